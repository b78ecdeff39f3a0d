import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseCommandLine } from "../../src/cli/commandLine.ts";
import { readConfiguration } from "../../src/config/readSettings.ts";
import { rereadSettings } from "../../src/config/rereadSettings.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { DEV_GENESIS } from "./settingsIn.ts";

const NODE = `enode://${"12".repeat(64)}@127.0.0.1:30303`;

/** A configuration of node.toml that a node runs with, and how it is reread after a change of that file. */
function started(toml: string, args: readonly string[] = [], environment: Record<string, string> = {}) {
  const folder = temporaryFolder();
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write("node.toml", toml);
  const { raw } = parseCommandLine([DEV_GENESIS, "--config-file=node.toml", "--p2p-host=127.0.0.1", ...args]);
  const running = readConfiguration({ raw, environment, workingDirectory: folder, isTerminal: false });
  if (!running.ok) throw new Error(running.error.message);
  return {
    folder,
    write,
    reread(changed: string) {
      write("node.toml", changed);
      const read = rereadSettings(running.value);
      if (!read.ok) throw new Error(read.error.message);
      const { settings, awaitingRestart } = read.value;
      return { settings, awaiting: awaitingRestart.map(({ option }) => option) };
    },
  };
}

describe("a configuration that is reread", () => {
  it("has new values where they can be taken over, and those of the start elsewhere", () => {
    const { reread } = started('data-path="one"\nmin-gas-price=1\nmax-peers=5\n');
    const { settings, awaiting } = reread('data-path="two"\nmin-gas-price=2\nmax-peers=6\nlogging="WARN"\n');
    expect(settings.pool.blockFloors.minGasPriceWei).toBe(2n);
    expect(settings.logging.level).toBe("WARN");
    expect(settings.maxPeers).toBe(5);
    expect(settings.dataPath).toMatch(/one$/);
    expect(awaiting).toEqual(["data-path", "max-peers"]);
  });

  it("has the static nodes of the folder that the node runs in", () => {
    const { folder, reread, write } = started('data-path="one"');
    mkdirSync(join(folder, "one"));
    mkdirSync(join(folder, "two"));
    write("one/static-nodes.json", JSON.stringify([NODE]));
    write("two/static-nodes.json", JSON.stringify([NODE.replace("30303", "30304")]));
    expect(reread('data-path="two"').settings.peers?.maintained).toMatchObject([{ tcpPort: 30303 }]);
  });

  it("leaves an option to the command line and the environment, which cannot change", () => {
    const { reread } = started("max-peers=5", ["--min-gas-price=3"], { IBEX_TARGET_GAS_LIMIT: "6000" });
    const { settings, awaiting } = reread("max-peers=5\nmin-gas-price=4\ntarget-gas-limit=7000");
    expect(settings.blockProduction).toMatchObject({ minGasPriceWei: 3n, targetGasLimit: 6000n });
    expect(awaiting).toEqual([]);
  });

  it("asks for no restart because of an option that has no effect", () => {
    const { reread } = started("max-peers=5");
    expect(reread("max-peers=5\ncache-last-blocks=7").awaiting).toEqual([]);
  });

  it("goes back to the default where an option was taken out", () => {
    const { reread } = started('min-gas-price=1\nlogging="DEBUG"\nmax-peers=5');
    const { settings } = reread("max-peers=5");
    expect(settings.pool.blockFloors.minGasPriceWei).toBe(1000n);
    expect(settings.logging.level).toBe("INFO");
  });
});
