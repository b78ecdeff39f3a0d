import { describe, expect, it } from "vitest";
import { type ConsensusStatus, isSilent } from "../../src/explorer/page/chain/validators.ts";

type Member = ConsensusStatus["validators"][number];

const member = (more: Partial<Member>): Member => ({
  address: "0x00",
  isSelf: false,
  isProposer: false,
  isHeard: true,
  missedTurns: "0",
  peers: "1",
  lastHeard: null,
  clockAheadMs: null,
  ...more,
});

describe("a validator is silent", () => {
  const among = { lost: 0, newest: 100, count: 4 };

  it("not while its block is among the newest, whatever is heard of the present height", () => {
    const unheard = member({ isHeard: false });
    expect(isSilent(unheard, { ...among, last: 92 })).toBe(false);
    expect(isSilent(unheard, { ...among, last: 91 })).toBe(true);
    expect(isSilent(unheard, { ...among, last: undefined })).toBe(true);
  });

  it("when it lost turns, by the node or by the blocks", () => {
    expect(isSilent(member({ missedTurns: "1" }), { ...among, last: 50 })).toBe(true);
    expect(isSilent(undefined, { ...among, lost: 2, last: 50 })).toBe(true);
    expect(isSilent(undefined, { ...among, last: 50 })).toBe(false);
  });
});
