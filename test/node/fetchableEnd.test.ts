import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { encodeLastSigned, type LastSignedState } from "../../src/ibft/lastSigned.ts";
import { nothingAbove } from "../../src/ibft/lostVotes.ts";
import { mayFetchEnd } from "../../src/node/fetchableEnd.ts";
import type { Address } from "../../src/primitives/address.ts";
import { openVoteLog } from "../../src/storage/votes/voteLog.ts";
import type { StoredBlock } from "../../src/types/block.ts";
import type { Digest } from "../../src/types/blockHash.ts";
import { encodeExtraData, VANITY_BYTES } from "../../src/types/extraData.ts";
import { account } from "../builders/testAccounts.ts";
import { aStoredChain } from "../storage/storedBlocks.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";

const [us, signer, other] = [0, 1, 2].map((who) => account(who).address) as [Address, Address, Address];

const [block] = aStoredChain({ seed: 1, blocks: 0, transactions: 0 }) as [StoredBlock];

/** Whether a node with the key of `us` and a signer may fetch the end of a chain with these validators. */
async function may(validators: readonly Address[], signed?: Partial<LastSignedState>): Promise<boolean> {
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
  const newest = { ...block, transactionCount: 0, header: { ...block.header, extraData } };
  return mayFetchEnd({ newest }, { addresses: [us, signer], voteFile });
}

describe("a lost end of the chain", () => {
  it("is fetched by a follower that never voted", async () => {
    expect(await may([other])).toBe(true);
    expect(await may([other], {})).toBe(true);
  });

  it("is the operator's to decide on a validator, on one that was, and where the header names none", async () => {
    expect(await may([other, us])).toBe(false);
    expect(await may([signer])).toBe(false);
    expect(await may([other], { digest: block.hash as unknown as Digest })).toBe(false);
    expect(await may([other], { round: 1 })).toBe(false);
    expect(await may([other], { forgotten: 3n })).toBe(false);
    expect(await may([])).toBe(false);
  });
});
