import { describe, expect, it } from "vitest";
import { SilenceLog } from "../../../src/consensus/monitor/silenceLog.ts";
import type { DoubtReason } from "../../../src/ibft/lastSigned.ts";
import { nothingAbove } from "../../../src/ibft/lostVotes.ts";
import { type State, UNSTARTED } from "../../../src/ibft/state.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { aGenesisHead, toyAddress, toyAddresses } from "../../builders/toyChain.ts";

const SELF = toyAddress(1);
const HEAD = aGenesisHead(toyAddresses(4));
const SOUND: State = { ...UNSTARTED, head: HEAD, lastSigned: nothingAbove(0n) };

function inDoubt(reason: DoubtReason, untilTimestamp = 1_700_000_005n): State {
  return { ...SOUND, lastSigned: { ...nothingAbove(0n), doubt: { reason, upTo: 7n, untilTimestamp } } };
}

function aLog(self = SELF) {
  const lines: string[] = [];
  const note = (level: string) => (_: unknown, message: string) => void lines.push(`${level} ${message}`);
  const logger = { ...silentLogger, error: note("error"), warn: note("warn"), info: note("info") };
  const log = new SilenceLog(logger, self);
  const stepped = (before: State, after: State, nowMs: number) => log.stepped(before, after, nowMs);
  return { lines, stepped };
}

describe("a validator that is silent", () => {
  it.each<readonly [DoubtReason, string]>([
    ["missing", `warn the validator ${toHex(SELF)} has no record of its votes`],
    ["old", `warn the record of votes of the validator ${toHex(SELF)} is older than its votes`],
    ["ownKey", `error TWO NODES RUN WITH THE KEY of the validator ${toHex(SELF)}`],
  ])("says why and until when: %s", (reason, beginning) => {
    const { lines, stepped } = aLog();
    stepped(SOUND, inDoubt(reason), 0);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(beginning);
    expect(lines[0]).toMatch(
      / This node neither proposes nor votes until the network is past height 7 and has made a block after 2023-11-14T22:13:25Z\.$/,
    );
    expect(lines[0]).toMatch(/fork the chain/);
  });

  it("repeats itself every half minute at most while it goes on, and says when it is over", () => {
    const { lines, stepped } = aLog();
    for (let second = 0; second < 65; second++)
      stepped(inDoubt("ownKey", BigInt(second)), inDoubt("ownKey", BigInt(second + 1)), second * 1000);
    stepped(inDoubt("ownKey"), SOUND, 65_000);
    stepped(SOUND, { ...SOUND, lastSigned: nothingAbove(1n) }, 66_000);
    expect(lines.map((line) => line.split(" ")[0])).toEqual(["error", "error", "error", "info"]);
    expect(lines[3]).toContain("this node proposes and votes again");
  });

  it("says nothing when it is no validator", () => {
    const { lines, stepped } = aLog(toyAddress(9));
    stepped(SOUND, inDoubt("missing"), 0);
    expect(lines).toEqual([]);
  });
});
