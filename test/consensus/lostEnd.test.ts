import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { judgeLostEnd, readVotesOf } from "../../src/consensus/lostEnd.ts";
import { encodeLastSigned, type LastSignedState } from "../../src/ibft/lastSigned.ts";
import { nothingAbove } from "../../src/ibft/lostVotes.ts";
import { type Logger, silentLogger } from "../../src/observability/logger.ts";
import type { Address } from "../../src/primitives/address.ts";
import { openVoteLog } from "../../src/storage/votes/voteLog.ts";
import type { StoredBlock } from "../../src/types/block.ts";
import type { Digest } from "../../src/types/blockHash.ts";
import { encodeExtraData, VANITY_BYTES } from "../../src/types/extraData.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { account } from "../builders/testAccounts.ts";
import { aStoredChain } from "../storage/storedBlocks.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";

const [us, signer, other] = [0, 1, 2].map((who) => account(who).address) as [Address, Address, Address];

const [block] = aStoredChain({ seed: 1, blocks: 0, transactions: 0 }) as [StoredBlock];

interface Case {
  readonly validators: readonly Address[];
  /** What the vote log says, at height 4 unless it says another. */
  readonly signed?: Partial<LastSignedState>;
  readonly newest?: bigint;
  readonly lost?: bigint;
  readonly hasPeers?: boolean;
  readonly logger?: Logger;
}

/** What a node with the key of `us` and a signer may do that has lost its blocks from 4 on. */
async function judge({
  validators,
  signed,
  newest = 3n,
  lost = 4n,
  hasPeers = true,
  logger = silentLogger,
}: Case) {
  const voteFile = join(temporaryFolder(), "votes.log");
  if (signed !== undefined) {
    const log = await openVoteLog(voteFile);
    await log.write(encodeLastSigned({ ...nothingAbove(4n), ...signed }));
    await log.close();
  }
  const extraData = encodeExtraData({
    vanity: new Uint8Array(VANITY_BYTES),
    validators,
    round: 0,
    seals: [],
  });
  const header = { ...block.header, number: newest, extraData };
  const left = { ...block, transactionCount: 0, header };
  return judgeLostEnd(
    { what: "the newest block", newest: left, lost: { number: lost, hash: block.hash } },
    { addresses: [us, signer], readVotes: () => readVotesOf(voteFile), hasPeers, logger },
  );
}

const VOTED = { digest: block.hash as unknown as Digest };

describe("a lost end of the chain", () => {
  it("is told to the operator where the node goes on", async () => {
    const { logger, lines } = loggedLines();
    await judge({ validators: [other], logger });
    await judge({ validators: [other, us], signed: VOTED, logger });
    await judge({ validators: [us], signed: VOTED, logger });
    expect(lines).toMatchObject([
      { level: "WARN", lost: "the newest block", message: expect.stringContaining("fetches the lost ones") },
      { level: "WARN", lost: "the newest block", message: expect.stringContaining("until a peer shows") },
    ]);
  });

  it("is fetched by a follower that never voted", async () => {
    expect(await judge({ validators: [other] })).toBe("fetched");
    expect(await judge({ validators: [other], signed: {} })).toBe("fetched");
    expect(await judge({ validators: [other], signed: {}, hasPeers: false })).toBe("fetched");
  });

  it("is restored by a validator whose vote log reaches above what is left, or by one that was added meanwhile", async () => {
    expect(await judge({ validators: [other, us], signed: VOTED })).toBe("restored");
    expect(await judge({ validators: [other, signer], signed: VOTED })).toBe("restored");
    expect(await judge({ validators: [other], signed: VOTED })).toBe("restored");
    expect(await judge({ validators: [other, us], signed: { round: 1 } })).toBe("restored");
  });

  it("is the operator's to decide where nobody else has sealed it, or the votes do not show that the log is whole", async () => {
    expect(await judge({ validators: [us], signed: VOTED })).toBe("refused");
    expect(await judge({ validators: [us, signer], signed: VOTED })).toBe("refused");
    expect(await judge({ validators: [other, us] })).toBe("refused");
    expect(await judge({ validators: [other, us], signed: {} })).toBe("refused");
    expect(await judge({ validators: [other, us], signed: VOTED, newest: 4n, lost: 5n })).toBe("refused");
    expect(await judge({ validators: [other], signed: VOTED, newest: 4n, lost: 5n })).toBe("refused");
  });

  it("is the operator's to decide without peers, where a contract names the validators, and where more than a log can hold is lost", async () => {
    expect(await judge({ validators: [other, us], signed: VOTED, hasPeers: false })).toBe("refused");
    expect(await judge({ validators: [], signed: VOTED })).toBe("refused");
    expect(await judge({ validators: [other, us], signed: VOTED, lost: 20_000n })).toBe("refused");
  });
});
