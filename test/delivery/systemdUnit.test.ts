import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXIT } from "../../src/cli/exitCodes.ts";
import { ibexHere } from "../cli/program.ts";
import { temporaryFolder } from "../cluster/harness/nodeProcess.ts";
import { root } from "../docs/documents.ts";
import { isInstalled, saySkipped } from "./installed.ts";

const UNIT = readFileSync(join(root, "config", "ibex.service"), "utf8");
/** Exposure that systemd computes from 0 (none) to 10; "OK" begins below 2. */
const MOST_EXPOSED = 1.5;

const hasSystemd = isInstalled("systemd-analyze");
if (!hasSystemd) saySkipped("systemd's own checks of config/ibex.service", "systemd-analyze", "systemd");

function settingOf(key: string): string | undefined {
  return new RegExp(`^${key}=(.*)$`, "m").exec(UNIT)?.[1];
}

/** A copy whose program exists on this machine; systemd names the unit after its file. */
function writtenUnit(text = UNIT): string {
  const file = join(temporaryFolder(), "ibex.service");
  writeFileSync(file, text.replace("ExecStart=/usr/bin/ibex ", `ExecStart=${process.execPath} `));
  return file;
}

function analyze(...options: readonly string[]) {
  const { status, stdout, stderr } = spawnSync("systemd-analyze", options, { encoding: "utf8" });
  // It may complain of units of this machine as well.
  const said = `${stdout}${stderr}`.split("\n").filter((line) => line.includes("ibex"));
  return { status, said: said.join("\n") };
}

describe("config/ibex.service", () => {
  it("starts the node again unless its operator must mend something first", () => {
    expect(settingOf("Restart")).toBe("on-failure");
    expect(settingOf("RestartPreventExitStatus")).toBe(`${EXIT.badInput} ${EXIT.disk}`);
    expect(Number(settingOf("TimeoutStopSec"))).toBeGreaterThan(20);
  });

  it("rereads on reload, logs to the journal, and keeps the data where only the service may read", () => {
    expect(settingOf("ExecReload")).toBe("/bin/kill -HUP $MAINPID");
    expect(settingOf("StandardOutput")).toBe("journal");
    expect(settingOf("LimitNOFILE")).toBe("65536");
    expect([settingOf("StateDirectory"), settingOf("StateDirectoryMode")]).toEqual(["ibex", "0700"]);
    expect(settingOf("ExecStart")).toContain("--data-path=/var/lib/ibex");
  });

  it.skipIf(!hasSystemd)("has no mistake that systemd finds", () => {
    expect(analyze("verify", writtenUnit())).toEqual({ status: 0, said: "" });
  });

  it.skipIf(!hasSystemd)(
    "has none either in the units that generate-blockchain-config makes of it",
    async () => {
      const network = join(temporaryFolder(), "network");
      const options = [
        `--config-file=${join(root, "config", "network.json")}`,
        `--to=${network}`,
        "--followers=1",
      ];
      await ibexHere(["--logging=OFF", "operator", "generate-blockchain-config", ...options]);
      for (const name of ["validator-1", "follower-1"]) {
        const unit = readFileSync(join(network, "nodes", name, `ibex-${name}.service`), "utf8");
        expect(analyze("verify", writtenUnit(unit))).toEqual({ status: 0, said: "" });
      }
    },
  );

  it.skipIf(!hasSystemd)("leaves little of the machine within reach of the node", () => {
    const { said } = analyze("security", "--offline=true", writtenUnit());
    const [, exposure] = /Overall exposure level for ibex\.service: ([\d.]+)/.exec(said) ?? [];
    expect(Number(exposure)).toBeLessThanOrEqual(MOST_EXPOSED);
  });
});
