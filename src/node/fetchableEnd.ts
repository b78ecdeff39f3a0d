import { existsSync } from "node:fs";
import { decodeLastSigned, type LastSignedState } from "../ibft/lastSigned.ts";
import type { Address } from "../primitives/address.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { LostEnd } from "../storage/headMarker.ts";
import { openVoteLog } from "../storage/votes/voteLog.ts";
import { decodeExtraData } from "../types/extraData.ts";

/**
 * Whether a node whose database has lost its newest blocks may fetch them again by itself: a follower may. The validators of the
 * newest block that is left are not among its `addresses`, and it has never signed a vote, so it cannot contradict one, and each
 * lost block was committed by others, who have it. Where a contract names the validators the header does not say who they
 * are, and the operator decides. Throws DamagedData when the vote log is damaged.
 */
export async function mayFetchEnd(
  { newest }: Pick<LostEnd, "newest">,
  { addresses, voteFile }: { readonly addresses: readonly Address[]; readonly voteFile: string },
): Promise<boolean> {
  const extra = decodeExtraData(newest.header.extraData);
  if (!extra.ok || extra.value.validators.length === 0) return false;
  const isValidator = extra.value.validators.some((validator) =>
    addresses.some((address) => equalBytes(address, validator)),
  );
  return !isValidator && !(await mayHaveVoted(voteFile));
}

async function mayHaveVoted(voteFile: string): Promise<boolean> {
  if (!existsSync(voteFile)) return false;
  const log = await openVoteLog(voteFile);
  const bytes = log.read();
  await log.close();
  if (bytes === undefined) return false;
  const record = decodeLastSigned(bytes);
  return !record.ok || !isEmpty(record.value);
}

/** A follower's record, too, has a height. */
function isEmpty({ round, digest, prepared, doubt, forgotten }: LastSignedState): boolean {
  return round === 0 && [digest, prepared, doubt, forgotten].every((part) => part === undefined);
}
