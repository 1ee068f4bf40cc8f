// Under the pointer, a part of a picture says what it is, and its row lights up.
const tip = document.getElementById("tip");
const all = (name, value) =>
  document.querySelectorAll(`[data-${name}="${CSS.escape(value)}"]`);

function light(key) {
  for (const part of document.querySelectorAll(".lit")) part.classList.remove("lit");
  for (const name of key ? ["key", "group"] : [])
    for (const part of all(name, key)) part.classList.add("lit");
}

addEventListener("pointermove", (event) => {
  const under = (name) => event.target.closest && event.target.closest(name);
  const keyed = under("[data-key]");
  light(keyed && keyed.dataset.key);
  const told = under("[data-tip]");
  tip.hidden = !told;
  if (!told) return;
  tip.textContent = told.dataset.tip;
  const right = innerWidth - tip.offsetWidth - 8;
  const low = innerHeight - tip.offsetHeight - 8;
  tip.style.left = Math.max(0, Math.min(event.clientX + 14, right)) + "px";
  tip.style.top = Math.max(0, Math.min(event.clientY + 14, low)) + "px";
});

// The node that the address names, and its tensors, stay lit.
function choose() {
  for (const part of document.querySelectorAll(".chosen")) part.classList.remove("chosen");
  const id = decodeURIComponent(location.hash.slice(1));
  if (!id) return;
  for (const part of all("node", id)) part.classList.add("chosen");
  for (const row of document.querySelectorAll(`#${CSS.escape(id)} [data-key]`))
    for (const part of all("key", row.dataset.key)) part.classList.add("chosen");
}
addEventListener("hashchange", choose);
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && location.hash) location.hash = "#";
});
choose();

// A click on the head of a column sorts: numbers from large to small, then back. What
// has no number comes last.
function value(head, row) {
  const cell = row.cells[head.cellIndex];
  const written = cell.dataset.sort ?? cell.textContent.replaceAll(",", "");
  return head.classList.contains("number") ? Number(written || -Infinity) : written;
}
addEventListener("click", (event) => {
  const head = event.target.closest("th");
  if (!head) return;
  const body = head.closest("table").tBodies[0];
  const down = head.dataset.order !== "down";
  head.dataset.order = down ? "down" : "up";
  const order = (a, b) => (a > b ? 1 : a < b ? -1 : 0) * (down ? -1 : 1);
  const rows = [...body.rows];
  rows.sort((a, b) => order(value(head, a), value(head, b)));
  body.append(...rows);
});
