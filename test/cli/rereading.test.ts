import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseCommandLine } from "../../src/cli/commandLine.ts";
import { Rereading } from "../../src/cli/rereading.ts";
import { readConfiguration } from "../../src/config/readSettings.ts";
import type { LiveSettings } from "../../src/node/settings/liveSettings.ts";
import { ok } from "../../src/primitives/result.ts";
import { createHandClock } from "../builders/handClock.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { DEV_GENESIS } from "../config/settingsIn.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";

/** A node's configuration, node.toml, and what is done when it is reread. */
function running(toml: string) {
  const folder = temporaryFolder();
  const write = (text: string): void => writeFileSync(join(folder, "node.toml"), text);
  write(toml);
  const { raw } = parseCommandLine([DEV_GENESIS, "--config-file=node.toml"]);
  const configuration = readConfiguration({
    raw,
    environment: {},
    workingDirectory: folder,
    isTerminal: false,
  });
  if (!configuration.ok) throw new Error(configuration.error.message);
  const clock = createHandClock(0);
  const { logger, lines } = loggedLines();
  const rereading = new Rereading(configuration.value, { clock, logger });
  const applied: number[] = [];
  const live: Pick<LiveSettings, "apply"> = {
    apply(_, tell) {
      applied.push(clock.nowMs());
      tell([]);
      return ok(undefined);
    },
  };
  return {
    folder,
    write,
    clock,
    rereading,
    applied,
    live,
    messages: () => lines.map(({ message }) => message),
  };
}

describe("a request to reread the configuration", () => {
  it("waits until the node has started", () => {
    const { rereading, applied, live } = running("max-peers=10");
    rereading.request();
    expect(applied).toEqual([]);
    rereading.begin(live);
    expect(applied).toEqual([0]);
  });

  it("is done at once, and fifty more within a second are one", () => {
    const { rereading, applied, live, clock } = running("max-peers=10");
    rereading.begin(live);
    for (let count = 0; count < 51; count++) rereading.request();
    expect(applied).toEqual([0]);
    clock.advanceTo(10_000);
    expect(applied).toEqual([0, 1000]);
    rereading.request();
    expect(applied).toEqual([0, 1000, 10_000]);
  });

  it("is ignored by a node that stops", () => {
    const { rereading, applied, live, clock } = running("max-peers=10");
    rereading.begin(live);
    rereading.request();
    rereading.request();
    rereading.close();
    clock.advanceTo(10_000);
    rereading.request();
    expect(applied).toEqual([0]);
  });

  it("warns of what needs a restart, at most ten times, without its value", () => {
    const { rereading, live, write, messages } = running("max-peers=10");
    rereading.begin(live);
    write('max-peers=11\nidentity="red"\n');
    rereading.request();
    expect(messages()).toEqual([
      "the configuration was reread; nothing changes",
      "--identity, now given as identity in node.toml, line 2, takes effect at the next start",
      "--max-peers, now given as max-peers in node.toml, line 1, takes effect at the next start",
    ]);
  });

  it("says how many more there are", () => {
    const { rereading, live, write, messages } = running("max-peers=10");
    rereading.begin(live);
    const others = [
      "rpc-gas-cap=1",
      "rpc-max-logs-range=1",
      "rpc-http-max-active-connections=7",
      "rpc-ws-max-active-connections=7",
      "min-free-disk-mb=1",
      "max-block-bytes=100000",
      "api-gas-price-blocks=3",
      "api-gas-price-percentile=3",
      "rpc-max-trace-filter-range=2",
      "p2p-port=4",
      "revert-reason-enabled=true",
    ];
    write(["max-peers=11", ...others].join("\n"));
    rereading.request();
    expect(messages()).toHaveLength(12);
    expect(messages().at(-1)).toBe("4 more warnings of the new configuration are not shown");
  });

  it("changes nothing when any of it is wrong, and says what", () => {
    const { rereading, live, write, messages, applied, folder } = running("max-peers=10");
    rereading.begin(live);
    write('max-peers="many"\nlogging="DEBUG"\n');
    writeFileSync(join(folder, "static-nodes.json"), "[");
    rereading.request();
    expect(applied).toEqual([]);
    expect(messages()).toEqual([
      expect.stringMatching(
        /^the configuration cannot be reread; nothing changes: Invalid value for option '--p2p-peer-upper-bound': 'many' is not/,
      ),
    ]);
  });

  it("refuses what is not a file, which may never be read to its end", () => {
    const { rereading, live, messages, folder } = running("max-peers=10");
    rereading.begin(live);
    rmSync(join(folder, "node.toml"));
    mkdirSync(join(folder, "node.toml"));
    rereading.request();
    expect(messages()).toEqual([expect.stringContaining("node.toml is not a regular file")]);
  });

  it("refuses what would hold the node's blocks up while it is read", () => {
    const { rereading, live, write, messages, applied } = running("max-peers=10");
    rereading.begin(live);
    write(`max-peers=10\n#${" ".repeat(1024 * 1024)}`);
    rereading.request();
    expect(applied).toEqual([]);
    expect(messages()).toEqual([expect.stringContaining("node.toml is larger than 1048576 bytes")]);
  });
});
