import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../config/settings.ts";
import { decodeLastSigned, encodeLastSigned, type LastSignedState } from "../ibft/lastSigned.ts";
import { forgottenAt } from "../ibft/lostVotes.ts";
import { silentLogger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import { equalBytes, includesBytes, toHex } from "../primitives/hex.ts";
import { ok, type Result } from "../primitives/result.ts";
import { addressOfPublicKey } from "../primitives/secp256k1.ts";
import { DamagedData } from "../storage/database.ts";
import { openVoteLog, setVoteLogAside } from "../storage/votes/voteLog.ts";
import { votesOwner, writeVotesOwner } from "../storage/votes/votesOwner.ts";
import type { NamedHeader } from "../types/block.ts";
import { openImportChain } from "./blocks/importChain.ts";
import { reportFailure, reportOpenError } from "./commandErrors.ts";
import { findDatabase } from "./databasePaths.ts";
import { EXIT } from "./exitCodes.ts";
import { freeName } from "./freeName.ts";
import { openExistingKey } from "./handOver/stoppedFolder.ts";
import { type ProcessIo, refuse } from "./processIo.ts";
import { fetchHead, type ValidatorHead } from "./validatorHeads.ts";

interface ForgetVotesRequest {
  readonly settings: Settings;
  /** Heads given by the operator. */
  readonly heads: readonly ValidatorHead[];
  /** JSON-RPC URLs of running validators, from which heads are fetched. */
  readonly urls: readonly string[];
  readonly isForced: boolean;
}

/**
 * `ibex validator forget-votes`: the remedy for a network that is stuck in a late round. A validator resumes in the
 * round of its vote log after a restart, whereas Besu begins in round 0. Without the vote log this node begins in round
 * 0, too. That is exactly as safe as Besu's own restart when no validator has a block of that height and this node saw
 * none prepared (see findObjections). The vote log is moved aside, never deleted. Returns the exit code.
 */
export async function forgetVotes(request: ForgetVotesRequest, io: ProcessIo): Promise<number> {
  const { settings } = request;
  const votesFile = join(settings.dataPath, "votes.log");
  const paths = findDatabase(settings.dataPath);
  if (!paths.ok) return refuse(paths.error.message, io);
  const validator = await findValidator(settings);
  if (!validator.ok) return refuse(validator.error.message, io);
  // The chain stays open while the vote log is read and moved, so that no node can start in the meantime.
  const opened = await openImportChain(settings, silentLogger);
  if (!opened.ok) return reportOpenError(opened.error, settings, io);
  try {
    const { chain } = opened.value;
    const { validators } = chain.tallyAfter(chain.head);
    return await decide(request, { votesFile, head: chain.head, validators, self: validator.value }, io);
  } finally {
    await opened.value.close();
  }
}

/** The address with which the node votes: that of its own key, or of the key that a remote signer holds. */
async function findValidator({ nodeKey, signer }: Settings): Promise<Result<Address>> {
  if (signer !== undefined) return ok(addressOfPublicKey(signer.publicKey));
  const key = await openExistingKey(nodeKey);
  return key.ok ? ok(key.value.address) : key;
}

/** State of this node, which is stopped. */
interface StoppedNode {
  readonly votesFile: string;
  readonly head: NamedHeader;
  /** Validator set of the next height. */
  readonly validators: readonly Address[];
  readonly self: Address;
}

async function decide(request: ForgetVotesRequest, node: StoppedNode, io: ProcessIo): Promise<number> {
  const { votesFile, head } = node;
  const isOurs = equalBytes(votesOwner(votesFile) ?? node.self, node.self);
  const record = isOurs && existsSync(votesFile) ? await readVoteLog(votesFile, request) : undefined;
  if (record === "unreadable") return moveAside(node, head.header.number + 1n, io);
  if (record === undefined || record.doubt !== undefined) return decideOnLost(request, node, io);
  const { height, round } = record;
  if (height <= head.header.number)
    return nothingToForget(
      `The vote log is of height ${height}, and the chain of this node is at block ${head.header.number}`,
      io,
    );
  const { heads, problems } = await gatherHeads(request);
  const objections = [...problems, ...findObjections(node, record, heads)];
  if (objections.length > 0 && !request.isForced) {
    return reportFailure(
      `The vote log of height ${height}, round ${round}, is kept:\n${linesOf(objections)}\n` +
        "--force forgets it anyway, which risks two different blocks of that height. See docs/operating.md, " +
        "When the chain stalls.",
      io,
      EXIT.failed,
    );
  }
  for (const objection of objections) io.print(`Overruled by --force: ${objection}\n`);
  return moveAside(node, height, io);
}

/**
 * Lets a validator vote that is silent because its votes are lost. It may have sealed a block of this height; seals that
 * have not become a block exist only in the memory of running validators, so all of them have to be stopped
 * (ibft2.md#lost-votes).
 */
async function decideOnLost(request: ForgetVotesRequest, node: StoppedNode, io: ProcessIo): Promise<number> {
  const { number } = node.head.header;
  const { validators, self, votesFile } = node;
  if (number === 0n)
    return nothingToForget(`There are no votes in ${votesFile}, and the chain has no block yet`, io);
  if (validators.length === 1 && includesBytes(validators, self))
    return nothingToForget(`There are no votes in ${votesFile}, and this is the only validator`, io);
  const { heads, running, problems } = await gatherHeads(request);
  const objections = [
    ...problems,
    ...findHeadObjections(node, heads),
    ...running.map(
      ({ validator }) =>
        `${toHex(validator)}: runs, and may hold votes that this node has lost: stop all validators first, and give ` +
        "their newest blocks with --heads (ibex database info)",
    ),
  ];
  if (objections.length > 0 && !request.isForced) {
    return reportFailure(
      `The votes of this node are lost, and it stays silent at height ${number + 1n}:\n${linesOf(objections)}\n` +
        "--force lets it vote anyway, which risks two different blocks of that height. See docs/operating.md, Lost votes.",
      io,
      EXIT.failed,
    );
  }
  for (const objection of objections) io.print(`Overruled by --force: ${objection}\n`);
  return moveAside(node, number + 1n, io);
}

const linesOf = (objections: readonly string[]): string =>
  objections.map((objection) => `  ${objection}`).join("\n");

/**
 * Reasons against forgetting the vote log, one per line; empty when it is as safe as a restart of Besu.
 *
 * A validator that forgets its votes could help to commit a second block of a height. If every validator's head is the
 * parent, and equals ours, no validator has a first block. If we voted for no block in the recorded round and saw none
 * prepared, no commit seal of ours exists. The remaining risk is a Byzantine validator that kept old messages of that
 * height: it can replay old RoundChanges (test/scenarios/forgottenVotes.test.ts).
 */
function findObjections(
  node: StoppedNode,
  { height, round, digest, prepared }: LastSignedState,
  heads: readonly ValidatorHead[],
): readonly string[] {
  const objections: string[] = [];
  const { number } = node.head.header;
  if (height !== number + 1n)
    objections.push(
      `this node's newest block is ${number}: it lags behind its own votes and must catch up first`,
    );
  if (prepared !== undefined) {
    const { hash } = prepared.candidate;
    objections.push(
      `block ${toHex(hash)} was seen prepared at that height, and this node may have sealed it`,
    );
  } else if (digest !== undefined) {
    objections.push(`this node voted for a block in round ${round}`);
  }
  return [...objections, ...findHeadObjections(node, heads)];
}

/** Reasons against it in the validators' newest blocks. */
function findHeadObjections(
  { head, validators, self }: StoppedNode,
  heads: readonly ValidatorHead[],
): readonly string[] {
  const objections: string[] = [];
  const { number } = head.header;
  if (!includesBytes(validators, self))
    objections.push(`this node, ${toHex(self)}, is not a validator at that height`);
  for (const validator of validators) {
    if (equalBytes(validator, self)) continue;
    const theirs = heads.filter((each) => equalBytes(each.validator, validator));
    if (theirs.length === 0) objections.push(`${toHex(validator)}: its newest block is not given`);
    for (const other of theirs) {
      if (other.number === number && equalBytes(other.hash, head.hash)) continue;
      objections.push(
        `${toHex(validator)}: its newest block is ${other.number} ${toHex(other.hash)}, ours is ${number} ${toHex(head.hash)}`,
      );
    }
  }
  for (const { validator } of heads)
    if (!includesBytes(validators, validator))
      objections.push(`${toHex(validator)}: is not a validator at that height`);
  return objections;
}

async function gatherHeads({ heads, urls }: ForgetVotesRequest): Promise<{
  readonly heads: readonly ValidatorHead[];
  /** Heads of the nodes that answered. */
  readonly running: readonly ValidatorHead[];
  readonly problems: readonly string[];
}> {
  const answers = await Promise.all(urls.map(fetchHead));
  const running = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
  return {
    heads: [...heads, ...running],
    running,
    problems: answers.flatMap((answer) => (answer.ok ? [] : [answer.error.message])),
  };
}

/** Throws DamagedData when the vote log cannot be read; returns "unreadable" instead with --force. */
async function readVoteLog(
  votesFile: string,
  { isForced }: ForgetVotesRequest,
): Promise<LastSignedState | "unreadable" | undefined> {
  try {
    const store = await openVoteLog(votesFile);
    const bytes = store.read();
    await store.close();
    if (bytes === undefined) return undefined;
    const record = decodeLastSigned(bytes);
    if (record.ok) return record.value;
    throw new DamagedData(
      `The vote log ${votesFile} is unusable: ${record.error.message}. --force moves it aside.`,
    );
  } catch (error) {
    if (error instanceof DamagedData && isForced) return "unreadable";
    throw error;
  }
}

/** Moves the vote log aside, and leaves a record that says so, because a validator without a record is silent. */
async function moveAside(
  { votesFile, self, head }: StoppedNode,
  height: bigint,
  io: ProcessIo,
): Promise<number> {
  const copy = freeName(`${votesFile}.height-${height}`);
  const isThere = existsSync(votesFile);
  if (isThere) setVoteLogAside(votesFile, copy);
  // The owner is written before the record: under the name of a former validator of this folder, the record would let that
  // one vote again.
  writeVotesOwner(votesFile, self);
  const log = await openVoteLog(votesFile);
  await log.write(encodeLastSigned(forgottenAt(height)));
  await log.close();
  const { number } = head.header;
  io.print(
    `The votes of height ${height} are forgotten${isThere ? `; the vote log is kept as ${copy}` : ""}.\n` +
      "Start this node: it begins in round 0. Do the same on every other Ibex validator, and restart Besu validators.\n" +
      `Block ${height} is the one to be decided again; this node's newest is block ${number}. A Byzantine validator that kept old ` +
      `messages could still cause a fork: once block ${height} is made, check that all have the same one.\n`,
  );
  return EXIT.ok;
}

function nothingToForget(why: string, io: ProcessIo): number {
  io.print(`${why}: there is nothing to forget, and nothing is changed.\n`);
  return EXIT.ok;
}
