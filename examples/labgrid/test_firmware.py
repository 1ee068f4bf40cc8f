"""The model runs on the board, and ends well. labgrid brings the board: `target`."""


def test_the_model_runs(target):
    console = target.get_driver("ConsoleProtocol")
    power = target.get_driver("PowerProtocol")
    power.on()
    console.expect("ember: success", timeout=60)
    console.expect(r"EMBER EXIT (\d+)", timeout=10)
    power.off()
