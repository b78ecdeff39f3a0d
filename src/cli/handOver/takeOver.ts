import { existsSync, renameSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Settings } from "../../config/settings.ts";
import {
  type HandOverMark,
  handOverMarkFile,
  readHandOverMark,
  writeHandOverMark,
} from "../../node/dataFolder/handOverMark.ts";
import { type NodeKey, openNodeKey } from "../../node/keys/nodeKey.ts";
import { equalBytes, includesBytes, toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { syncFolder } from "../../primitives/syncFolder.ts";
import { withDiskErrors } from "../../storage/diskErrors.ts";
import { replaceFile } from "../../storage/durableFile.ts";
import { writeVotesOwner } from "../../storage/votes/votesOwner.ts";
import { decodeExtraData } from "../../types/extraData.ts";
import { freeName } from "../freeName.ts";
import { findRunning } from "./findRunning.ts";
import type { HandOver } from "./handOverFile.ts";
import { MAX_PLACES } from "./limits.ts";
import { type Place, placeType } from "./place.ts";
import type { StoppedFolder } from "./stoppedFolder.ts";
import { replaceVotes } from "./votes.ts";

interface TakeOverRequest {
  readonly settings: Settings;
  readonly handOver: HandOver;
  /** Places of the old node that the operator names, in addition to those in the file. */
  readonly places: readonly Place[];
  /** Called after each durable step; tests stop there. */
  readonly onStep?: (step: string) => void;
}

/** Former contents of the folder that were kept. */
interface TakenOver {
  /** Copy of the folder's former key. */
  readonly formerKey: string | undefined;
}

/**
 * Puts the validator of a file into the folder of a stopped node, in this order:
 *
 *     mark (taking) -> vote log -> former key aside -> key -> mark (past)
 *
 * From the first mark to the last one the node does not start here, and a run after a kill continues. Throws DiskError.
 */
export async function takeOver(
  request: TakeOverRequest,
  folder: StoppedFolder,
): Promise<Result<TakenOver, "refused">> {
  const { settings, handOver, onStep = () => undefined } = request;
  const { id, key } = handOver;
  const { dataPath, nodeKey: source } = settings;
  if (settings.signer !== undefined)
    return fail(
      "caller",
      "refused",
      "The options of the remote signer are given, and the file has the key of a validator: the node would not use it. " +
        "Leave them out, or import the key into the signer.",
    );
  const mark = readHandOverMark(dataPath);
  if (!mark.ok) return fail("caller", "refused", mark.error.message);
  if (source.keystore !== undefined)
    return fail(
      "caller",
      "refused",
      "The key is taken over into a plain key file: leave out the options of the keystore here, and make one afterwards " +
        "with ibex keystore encrypt.",
    );
  const former = existsSync(source.path) ? openNodeKey(source) : undefined;
  if (former?.ok === false) return fail("caller", "refused", former.error.message);
  const objection =
    findMarkObjection(mark.value, handOver, dataPath) ??
    findFolderObjection({ folder, mark: mark.value, handOver, former: former?.value }) ??
    findOldFolderObjection(handOver, dataPath) ??
    (await findRunningObjection(request));
  if (objection !== undefined) return fail("caller", "refused", objection);
  const { given, past } = mark.value;
  writeHandOverMark(dataPath, { ...(given && { given }), taking: { id }, past });
  onStep("taking");
  await replaceVotes(folder.voteFile, handOver.votes, `${folder.voteFile}.before-${id.slice(0, 8)}`);
  writeVotesOwner(folder.voteFile, key.address);
  onStep("votes");
  const formerKey = replaceKey(source.path, { former: former?.value, handOver, onStep });
  onStep("key");
  const isBack = given?.address === toHex(key.address);
  writeHandOverMark(dataPath, { ...(given && !isBack && { given }), past: [...past, id] });
  onStep("taken");
  return ok({ formerKey });
}

function findMarkObjection(
  { given, taking, past }: HandOverMark,
  { id }: HandOver,
  dataPath: string,
): string | undefined {
  if (taking?.id === id) return undefined;
  if (taking !== undefined)
    return `Another validator is being taken over into ${dataPath}, and this was not finished: finish it first, with its file.`;
  if (given?.id === id)
    return (
      `The validator was handed over from this folder, ${dataPath}. To use it here again, and nowhere else: ibex validator ` +
      "hand-over --undo."
    );
  if (past.includes(id))
    return (
      `This file was used in ${dataPath} before, and its votes are stale now: a validator that relies on them could contradict ` +
      "itself. Nothing is changed. Hand the validator over again, from its current folder."
    );
  return undefined;
}

function findFolderObjection(facts: {
  readonly folder: StoppedFolder;
  readonly mark: HandOverMark;
  readonly handOver: HandOver;
  readonly former: NodeKey | undefined;
}): string | undefined {
  const { folder, mark, handOver, former } = facts;
  if (!equalBytes(folder.genesisHash, handOver.genesisHash))
    return (
      `The file is of another chain: its genesis block is ${toHex(handOver.genesisHash)} (chain id ${handOver.chainId}), that ` +
      `of this node is ${toHex(folder.genesisHash)}.`
    );
  if (former === undefined || mark.taking !== undefined) return undefined;
  if (equalBytes(former.address, handOver.key.address))
    return mark.given?.address === toHex(former.address)
      ? undefined
      : `The folder ${folder.path} has the key of this validator already, so a node may have voted with it here. If none has, delete the key there.`;
  const extra = folder.head && decodeExtraData(folder.head.header.extraData);
  if (extra?.ok === true && includesBytes(extra.value.validators, former.address))
    return (
      `The folder ${folder.path} is that of another validator, ${toHex(former.address)}, which would be lost. Use the folder of ` +
      "a node that is not a validator."
    );
  return undefined;
}

/** Checks the mark of the old folder itself, if it is on the same machine, or on a disk that is mounted under the same name. */
function findOldFolderObjection({ id, key, folder }: HandOver, dataPath: string): string | undefined {
  // Two machines may have the same name for their data folders.
  if (folder === resolve(dataPath) || !existsSync(folder)) return undefined;
  const mark = readHandOverMark(folder);
  if (!mark.ok) return mark.error.message;
  if (mark.value.given?.id === id || !hasKey(folder, key)) return undefined;
  return (
    `The old folder ${folder} does not have the mark of this hand-over (${handOverMarkFile(folder)}): it was undone, or the ` +
    "mark was deleted, and a node may run there. Run ibex validator hand-over there once more."
  );
}

function hasKey(folder: string, { address }: NodeKey): boolean {
  const path = join(folder, "key");
  if (!existsSync(path)) return false;
  const there = openNodeKey({ path });
  return !there.ok || equalBytes(there.value.address, address);
}

/**
 * Objects to a running old node. A listener at a place from the file that does not prove to have the key may be another node
 * that uses the port now.
 */
async function findRunningObjection({ handOver, places }: TakeOverRequest): Promise<string | undefined> {
  const { key, machine } = handOver;
  const ofFile = handOver.places.flatMap((text) => {
    const place = placeType.read(text);
    return place.ok && (machine === hostname() || !isLoopback(text)) ? [place.value] : [];
  });
  const [atGiven, atOthers] = await Promise.all([
    findRunning(key, places.slice(0, MAX_PLACES)),
    findRunning(key, ofFile.slice(0, MAX_PLACES)),
  ]);
  const running = [...atGiven, ...atOthers.filter(({ isProven }) => isProven)];
  if (running.length === 0) return undefined;
  const lines = [...new Set(running.map(({ reason }) => `  ${reason}`))].join("\n");
  return `The old node runs, or another one with its key:\n${lines}\nStop it first. Nothing is changed.`;
}

const isLoopback = (place: string): boolean => /^(127\.|localhost:|\[::1\])/.test(place);

/** Replaces the key, last, so that a folder with the key has its votes. Returns the name under which another key is kept. */
function replaceKey(
  path: string,
  {
    former,
    handOver: { id, key },
    onStep,
  }: {
    readonly former: NodeKey | undefined;
    readonly handOver: HandOver;
    readonly onStep: (step: string) => void;
  },
): string | undefined {
  if (former !== undefined && equalBytes(former.address, key.address)) return undefined;
  const copy = former && freeName(`${path}.before-${id.slice(0, 8)}`);
  if (copy !== undefined)
    withDiskErrors(`The key file ${path} cannot be set aside`, () => {
      renameSync(path, copy);
      syncFolder(dirname(path));
    });
  onStep("former key");
  replaceFile(path, toHex(key.privateKey), 0o600);
  return copy;
}
