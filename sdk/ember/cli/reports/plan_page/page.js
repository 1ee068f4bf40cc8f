// Under the pointer a tensor says what it is.
const tip = document.getElementById("tip");
addEventListener("pointermove", (event) => {
  const tensor = event.target.closest && event.target.closest("[data-tip]");
  tip.hidden = !tensor;
  if (!tensor) return;
  tip.textContent = tensor.dataset.tip;
  const right = innerWidth - tip.offsetWidth - 8;
  const low = innerHeight - tip.offsetHeight - 8;
  tip.style.left = Math.max(0, Math.min(event.clientX + 14, right)) + "px";
  tip.style.top = Math.max(0, Math.min(event.clientY + 14, low)) + "px";
});
