import { existsSync } from "node:fs";
import { decodeLastSigned, type LastSignedState } from "../ibft/lastSigned.ts";
import type { Logger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { LostEnd, LostEndAction } from "../storage/headMarker.ts";
import { openVoteLog } from "../storage/votes/voteLog.ts";
import { decodeExtraData } from "../types/extraData.ts";

/**
 * What a node may do by itself whose database has lost its newest blocks (ibft2.md#a-lost-end).
 *
 * - A follower fetches them like any new block. The validators of the newest block that is left are not among its `addresses`,
 *   and it has never signed a vote, so it cannot contradict one, and each lost block was committed by others, who have it.
 * - A validator restores them, which takes proof, if its vote log reaches above the newest block that is left: that it is whole shows
 *   there, and it binds the validator for all that it signed for lost blocks. A sole validator never does: nobody else has sealed them.
 * - In all other cases the operator decides: also where a contract names the validators, since headers do not say who they are then,
 *   and a lost block could be judged only once the one before it is executed.
 *
 * Throws DamagedData when the vote log is damaged.
 */
export async function judgeLostEnd(end: Loss, parts: LostEndParts): Promise<LostEndAction> {
  const action = await actionFor(end, parts);
  tellOperator(parts.logger, end, action);
  return action;
}

async function actionFor(
  { newest, lost }: Loss,
  { addresses, readVotes, hasPeers }: LostEndParts,
): Promise<LostEndAction> {
  const { number, extraData } = newest.header;
  const extra = decodeExtraData(extraData);
  if (!extra.ok || extra.value.validators.length === 0) return "refused";
  const { validators } = extra.value;
  const votedAt = heightOfVotes(await readVotes());
  const isValidator = validators.some((validator) => includes(addresses, validator));
  if (!isValidator && votedAt === undefined) return "fetched";
  if (validators.every((validator) => includes(addresses, validator))) return "refused";
  if (!hasPeers) return "refused";
  const isTail = lost.number - number <= LOST_BLOCKS_LIMIT;
  return isTail && votedAt !== undefined && votedAt > number ? "restored" : "refused";
}

type Loss = Pick<LostEnd, "what" | "newest" | "lost">;

interface LostEndParts {
  /** Addresses of the node and of its validator, which differ where a remote signer signs. */
  readonly addresses: readonly Address[];
  /** The newest record of the vote log; undefined when there is none. */
  readonly readVotes: () => Promise<Uint8Array | undefined>;
  /** Peer-to-peer is on. */
  readonly hasPeers: boolean;
  readonly logger: Logger;
}

function tellOperator(logger: Logger, { what, newest }: Loss, action: LostEndAction): void {
  const fields = { lost: what, head: Number(newest.header.number) };
  if (action === "fetched")
    logger.warn(
      fields,
      "the database has lost its newest blocks; this node has never voted, so it verifies the others and fetches the lost ones " +
        "from its peers",
    );
  if (action === "restored")
    logger.warn(
      fields,
      "the database has lost its newest blocks; this validator neither proposes nor votes, and imports nothing, until a peer shows " +
        "these very blocks with the seals of a quorum. What is left of them stays in chain/ (*.log.kept) until they are back. " +
        "Nothing is to be done while other nodes run that have them",
    );
}

/** Blocks that the log of LevelDB can hold at most, and more: it has 16 MiB, and an empty block takes some kilobytes. */
const LOST_BLOCKS_LIMIT = 16_384n;

/** Reads the newest record of the vote log at `path`, of a node that does not run. Throws DamagedData. */
export async function readVotesOf(path: string): Promise<Uint8Array | undefined> {
  if (!existsSync(path)) return undefined;
  const log = await openVoteLog(path);
  const bytes = log.read();
  await log.close();
  return bytes;
}

/** The height of the last vote; undefined where none was ever signed, below all heights where the record is unreadable. */
function heightOfVotes(bytes: Uint8Array | undefined): bigint | undefined {
  const record = bytes === undefined ? undefined : decodeLastSigned(bytes);
  if (record === undefined) return undefined;
  if (!record.ok) return UNREADABLE;
  return isEmpty(record.value) ? undefined : record.value.height;
}

/** Below every lost block, so that the operator decides. */
const UNREADABLE = -1n;

/** A follower's record, too, has a height. */
function isEmpty({ round, digest, prepared, doubt, forgotten }: LastSignedState): boolean {
  return round === 0 && [digest, prepared, doubt, forgotten].every((part) => part === undefined);
}

function includes(addresses: readonly Address[], address: Address): boolean {
  return addresses.some((each) => equalBytes(each, address));
}
