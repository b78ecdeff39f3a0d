import { describe, expect, it } from "vitest";
import type { ConsensusStatus } from "../../../src/consensus/monitor/status.ts";
import { VoteProposals } from "../../../src/consensus/voteProposals.ts";
import { ZERO_ADDRESS } from "../../../src/primitives/address.ts";
import { ZERO_HASH } from "../../../src/primitives/hash.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { ibftStatus } from "../../../src/rpc/methods/ibft/status.ts";
import { aCore } from "../../builders/anRpcBackend.ts";
import { toyAddresses } from "../../builders/toyChain.ts";
import { requesterFor } from "../requester.ts";

const NOW_MS = 1_700_000_090_000;
const [a, b, c] = toyAddresses(3) as [typeof ZERO_ADDRESS, typeof ZERO_ADDRESS, typeof ZERO_ADDRESS];

/** Three validators in round 1, of which the third is silent, as seen by the first. */
const STATUS: ConsensusStatus = {
  mode: "validating",
  validators: [a, b, c],
  self: a,
  isValidator: true,
  height: 81n,
  quorum: 2,
  round: {
    number: 1,
    proposer: b,
    startedAtMs: NOW_MS - 1_000,
    timeoutAtMs: NOW_MS + 3_000,
    phase: "prepared",
    prepares: [a],
    commits: [a],
    roundChanges: [{ author: b, round: 2 }],
  },
  silence: undefined,
  pauseCause: undefined,
  members: [
    { address: a, isPresent: true, missedTurns: 0, connections: 0, clockAheadMs: [], lastHeard: undefined },
    {
      address: b,
      isPresent: true,
      missedTurns: 0,
      connections: 1,
      clockAheadMs: [-12.4, 480],
      lastHeard: { atMs: NOW_MS - 400, kind: "roundChange", height: 81n, round: 2 },
    },
    {
      address: c,
      isPresent: false,
      missedTurns: 17,
      connections: undefined,
      clockAheadMs: [],
      lastHeard: { atMs: NOW_MS - 840_000, kind: "block", height: 20n, round: undefined },
    },
  ],
  head: { number: 80n, hash: ZERO_HASH, proposer: a, round: 0, timestamp: 1_700_000_080n },
  votes: { outstanding: [{ recipient: c, add: [], drop: [a] }], needed: 2, expireAt: 90n },
};

function ask(status: ConsensusStatus): Promise<unknown> {
  const ports = {
    clock: { nowMs: () => NOW_MS, at: () => ({ cancel: () => undefined }) },
    consensus: aCore({ consensus: { proposals: new VoteProposals(), status: () => status } }).consensus,
  };
  return requesterFor([ibftStatus], ports)("ibft_status");
}

describe("ibft_status", () => {
  it("tells why a validator is silent, and until when", async () => {
    const silence = { reason: "missing", upTo: 81n, untilTimestamp: 1_700_000_095n } as const;
    expect(await ask({ ...STATUS, mode: "silent", round: undefined, silence })).toMatchObject({
      mode: "silent",
      silence: { reason: "missing", upToHeight: "0x51", untilTimestamp: "0x6553f15f" },
    });
    expect(await ask({ ...STATUS, isValidator: false, silence })).toMatchObject({ silence: null });
  });

  it("shows what an operator needs when the chain stalls", async () => {
    expect(await ask(STATUS)).toEqual({
      mode: "validating",
      address: toHex(a),
      isValidator: true,
      height: "0x51",
      round: "0x1",
      proposer: toHex(b),
      phase: "prepared",
      timers: { roundAgeMs: 1_000, roundEndsInMs: 3_000 },
      votes: {
        proposal: toHex(b),
        prepares: [toHex(a)],
        commits: [toHex(a)],
        roundChanges: [{ address: toHex(b), round: "0x2" }],
      },
      silence: null,
      quorum: "0x2",
      missing: [toHex(c)],
      validators: [
        {
          address: toHex(a),
          isSelf: true,
          isProposer: false,
          isHeard: true,
          peers: null,
          missedTurns: "0x0",
          clockAheadMs: null,
          lastHeard: null,
        },
        {
          address: toHex(b),
          isSelf: false,
          isProposer: true,
          isHeard: true,
          peers: "0x1",
          missedTurns: "0x0",
          clockAheadMs: [-12, 480],
          lastHeard: { agoMs: 400, kind: "roundChange", height: "0x51", round: "0x2" },
        },
        {
          address: toHex(c),
          isSelf: false,
          isProposer: false,
          isHeard: false,
          peers: null,
          missedTurns: "0x11",
          clockAheadMs: [],
          lastHeard: { agoMs: 840_000, kind: "block", height: "0x14", round: null },
        },
      ],
      lastBlock: {
        number: "0x50",
        hash: toHex(ZERO_HASH),
        proposer: toHex(a),
        round: "0x0",
        timestamp: "0x6553f150",
        ageMs: 10_000,
      },
      validatorVotes: {
        needed: "0x2",
        expireAtBlock: "0x5a",
        outstanding: [{ address: toHex(c), add: [], drop: [toHex(a)] }],
      },
    });
  });

  it("shows null on a node that only follows, which cannot tell which validators are missing", async () => {
    const status: ConsensusStatus = {
      ...STATUS,
      mode: "following",
      self: ZERO_ADDRESS,
      isValidator: false,
      round: undefined,
    };
    expect(await ask(status)).toMatchObject({
      mode: "following",
      isValidator: false,
      height: "0x51",
      round: null,
      proposer: null,
      timers: null,
      votes: null,
      missing: null,
      validators: [{ isHeard: null }, { isHeard: null }, { isHeard: null }],
      lastBlock: { number: "0x50", round: "0x0" },
    });
  });
});
