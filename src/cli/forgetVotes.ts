import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../config/settings.ts";
import { decodeLastSigned, type LastSignedState } from "../ibft/lastSigned.ts";
import { openNodeKey } from "../node/nodeKey.ts";
import { silentLogger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import { equalBytes, includesBytes, toHex } from "../primitives/hex.ts";
import { DamagedData } from "../storage/database.ts";
import { openVoteLog, setVoteLogAside } from "../storage/votes/voteLog.ts";
import type { NamedHeader } from "../types/block.ts";
import { openImportChain } from "./blocks/importChain.ts";
import { findDatabase } from "./databasePlace.ts";
import { fail, failToOpen } from "./endings.ts";
import { EXIT } from "./exitCodes.ts";
import { type ProcessIo, refuse } from "./processIo.ts";
import { askForHead, type ValidatorHead } from "./validatorHeads.ts";

export interface ForgettingOrder {
  readonly settings: Settings;
  /** As the operator wrote them down. */
  readonly heads: readonly ValidatorHead[];
  /** JSON-RPC addresses of running validators, to be asked for theirs. */
  readonly urls: readonly string[];
  readonly isForced: boolean;
}

/**
 * `ibex validator forget-votes`: the way out for a network that stands in a late round. A validator keeps its promise
 * over restarts, so it begins in the round of its vote log; Besu begins in round 0. Without the record this node begins
 * there as well. That is as safe as Besu's own restart, and no safer, when no validator has a block of that height and
 * we saw none prepared (docstring of findObjections). The record is put aside, never deleted. Answers the exit code.
 */
export async function forgetVotes(order: ForgettingOrder, io: ProcessIo): Promise<number> {
  const { settings } = order;
  const votesFile = join(settings.dataPath, "votes.log");
  const place = findDatabase(settings.dataPath);
  if (!place.ok) return refuse(place.error.message, io);
  if (!existsSync(settings.nodeKey.path))
    return refuse(`There is no node key in ${settings.nodeKey.path}: this was no validator.`, io);
  const key = openNodeKey(settings.nodeKey);
  if (!key.ok) return refuse(key.error.message, io);
  // Open as long as the record is looked at and moved: no node can start meanwhile.
  const opened = await openImportChain(settings, silentLogger);
  if (!opened.ok) return failToOpen(opened.error, settings, io);
  try {
    const { chain } = opened.value;
    const { validators } = chain.tallyAfter(chain.head);
    return await decide(order, { votesFile, head: chain.head, validators, self: key.value.address }, io);
  } finally {
    await opened.value.close();
  }
}

/** This node, stopped. */
interface StoppedNode {
  readonly votesFile: string;
  readonly head: NamedHeader;
  /** Of the next height. */
  readonly validators: readonly Address[];
  readonly self: Address;
}

async function decide(order: ForgettingOrder, node: StoppedNode, io: ProcessIo): Promise<number> {
  const { votesFile, head } = node;
  if (!existsSync(votesFile)) return nothingToForget(`There is no vote log ${votesFile}`, io);
  const record = await readRecord(votesFile, order);
  if (record === undefined) return nothingToForget(`The vote log ${votesFile} is empty`, io);
  if (record === "unreadable") return putAside(node, head.header.number + 1n, io);
  const { height, round } = record;
  if (height <= head.header.number)
    return nothingToForget(
      `The vote record is of height ${height}, and the chain of this node is at block ${head.header.number}`,
      io,
    );
  const { heads, problems } = await gatherHeads(order);
  const objections = [...problems, ...findObjections(node, record, heads)];
  if (objections.length > 0 && !order.isForced) {
    const lines = objections.map((objection) => `  ${objection}`).join("\n");
    return fail(
      `The vote record of height ${height}, round ${round}, is kept:\n${lines}\n` +
        "--force forgets it all the same: two blocks of that height can then come about. See docs/operating.md, " +
        "When the chain stands.",
      io,
      EXIT.failed,
    );
  }
  for (const objection of objections) io.print(`Overruled by --force: ${objection}\n`);
  return putAside(node, height, io);
}

/**
 * What speaks against forgetting that record, a line each; nothing when it is as safe as a restart of Besu.
 *
 * A validator that forgets could help to make a second block of a height. Where each validator's newest block is the one
 * before, and is ours, nobody has a first. Where we voted for no block in the round of the record and saw none prepared
 * before, no seal of ours is out there. What is left is a liar that kept what others said in that height: it can show old
 * RoundChanges as if they were new (test/scenarios/forgottenVotes.test.ts).
 */
function findObjections(
  { head, validators, self }: Omit<StoppedNode, "votesFile">,
  { height, round, digest, prepared }: LastSignedState,
  heads: readonly ValidatorHead[],
): readonly string[] {
  const objections: string[] = [];
  const { number } = head.header;
  if (!includesBytes(validators, self))
    objections.push(`this node, ${toHex(self)}, is no validator at that height`);
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
      objections.push(`${toHex(validator)}: is no validator at that height`);
  return objections;
}

async function gatherHeads({ heads, urls }: ForgettingOrder): Promise<{
  readonly heads: readonly ValidatorHead[];
  readonly problems: readonly string[];
}> {
  const answers = await Promise.all(urls.map(askForHead));
  return {
    heads: [...heads, ...answers.flatMap((answer) => (answer.ok ? [answer.value] : []))],
    problems: answers.flatMap((answer) => (answer.ok ? [] : [answer.error.message])),
  };
}

/** Throws DamagedData when it cannot be read; "unreadable" where that is overruled. */
async function readRecord(
  votesFile: string,
  { isForced }: ForgettingOrder,
): Promise<LastSignedState | "unreadable" | undefined> {
  try {
    const store = await openVoteLog(votesFile);
    const bytes = store.read();
    await store.close();
    if (bytes === undefined) return undefined;
    const record = decodeLastSigned(bytes);
    if (record.ok) return record.value;
    throw new DamagedData(
      `The vote log ${votesFile} is unusable: ${record.error.message}. --force puts it aside.`,
    );
  } catch (error) {
    if (error instanceof DamagedData && isForced) return "unreadable";
    throw error;
  }
}

function putAside({ votesFile }: StoppedNode, height: bigint, io: ProcessIo): number {
  const copy = freeName(`${votesFile}.height-${height}`);
  setVoteLogAside(votesFile, copy);
  io.print(
    `The votes of height ${height} are forgotten; their record is kept as ${copy}.\n` +
      "Start this node: it begins in round 0. Do the same on every other Ibex validator, and restart those of Besu.\n" +
      `A validator that lies and kept old messages could still make a fork: see that all have the same block ${height}.\n`,
  );
  return EXIT.ok;
}

/** Nobody's copy is overwritten. */
function freeName(wanted: string): string {
  for (let name = wanted, count = 2; ; name = `${wanted}-${count++}`) if (!existsSync(name)) return name;
}

function nothingToForget(why: string, io: ProcessIo): number {
  io.print(`${why}: it binds nobody, and nothing is changed.\n`);
  return EXIT.ok;
}
