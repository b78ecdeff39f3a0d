import { randomBytes } from "node:crypto";
import { appendFileSync, closeSync, existsSync, fsyncSync, openSync, renameSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, resolve } from "node:path";
import type { Settings } from "../../config/settings.ts";
import {
  type HandOverMark,
  readHandOverMark,
  writeHandOverMark,
} from "../../node/dataFolder/handOverMark.ts";
import type { NodeKey } from "../../node/keys/nodeKey.ts";
import { toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { syncFolder } from "../../primitives/syncFolder.ts";
import { withDiskErrors } from "../../storage/diskErrors.ts";
import { createFile } from "../../storage/durableFile.ts";
import { encodeHandOver, type HandOver, type HandOverText, readHandOver } from "./handOverFile.ts";
import { openExistingKey, type StoppedFolder } from "./stoppedFolder.ts";
import { readVotes } from "./votes.ts";

interface HandOverRequest {
  readonly settings: Settings;
  /** File to write, absolute. */
  readonly to: string;
  /** Called after each durable step; tests stop there. */
  readonly onStep?: (step: string) => void;
}

/**
 * Gives away the validator of a stopped node (stopNode.ts), in this order:
 *
 *     draft with key and votes -> mark of the folder -> end of the draft -> the file's name
 *
 * Before the mark, nobody can take over the draft, since it lacks its end; from the mark on, the node does not start here. A
 * run after a kill continues with the same id. Throws DiskError and DamagedData.
 */
export async function handOver(
  { settings, to, onStep = () => undefined }: HandOverRequest,
  folder: StoppedFolder,
): Promise<Result<HandOver, "refused">> {
  const { dataPath, nodeKey: source } = settings;
  const mark = readHandOverMark(dataPath);
  if (!mark.ok) return fail("caller", "refused", mark.error.message);
  const key = await openExistingKey(source);
  if (!key.ok) return fail("caller", "refused", key.error.message);
  const id = idOf(mark.value, key.value) ?? randomBytes(16).toString("hex");
  const content = await contentOf(settings, folder, { id, key: key.value });
  const objection = findObjection({ mark: mark.value, folder, handOver: content, to });
  if (objection !== undefined) return fail("caller", "refused", objection);
  const draft = `${to}.part`;
  const text = encodeHandOver(content);
  withDiskErrors(`The file ${draft} cannot be written`, () => createFile(draft, text.content, 0o600));
  onStep("draft");
  const { height } = content;
  const given = { id, address: toHex(key.value.address), height: `${height}`, at: new Date().toISOString() };
  writeHandOverMark(dataPath, { given: mark.value.given ?? given, past: [...mark.value.past, id] });
  onStep("mark");
  finish(draft, text, to);
  onStep("file");
  return ok(content);
}

/** Objection to handing over the key of a validator with a remote signer. */
const KEY_IS_ELSEWHERE =
  "The validator's key is with the remote signer, so there is none to hand over. To move its node, see " +
  'docs/operating/keys.md, "A remote signer".';

/** The id under which this folder gave this validator away already. */
function idOf({ given }: HandOverMark, { address }: NodeKey): string | undefined {
  return given?.address === toHex(address) ? given.id : undefined;
}

async function contentOf(
  { dataPath, chainSpec, peers }: Settings,
  { voteFile, head, genesisHash }: StoppedFolder,
  { id, key }: Pick<HandOver, "id" | "key">,
): Promise<HandOver> {
  const { advertisedHost: host = "", port = 0 } = peers ?? {};
  const isKnown = port > 0 && !["", "0.0.0.0", "::"].includes(host);
  return {
    id,
    key,
    chainId: chainSpec.chainId,
    genesisHash,
    height: head?.header.number ?? 0n,
    votes: await readVotes(voteFile, key.address),
    folder: resolve(dataPath),
    machine: hostname(),
    places: isKnown ? [`${host.includes(":") ? `[${host}]` : host}:${port}`] : [],
  };
}

/** Why nothing is handed over; undefined when there is no objection. */
function findObjection(facts: {
  readonly mark: HandOverMark;
  readonly folder: StoppedFolder;
  readonly handOver: HandOver;
  readonly to: string;
}): string | undefined {
  const { mark, folder, handOver, to } = facts;
  const { given, taking } = mark;
  if (taking !== undefined)
    return `A validator is being taken over into ${folder.path}, and this was not finished: finish it first.`;
  if (handOver.height === 0n)
    return `The chain in ${folder.path} has no block yet, so there is nothing to hand over but the key file: copy that.`;
  if (given !== undefined && given.id !== handOver.id)
    return `The folder ${folder.path} gave the validator ${given.address} away before; this is a second one, and a folder keeps one mark. Do not undo the first one for it, which may run elsewhere. Move this one by hand: stop its node for good, and move key, votes.log, votes.log.mark and votes.log.of to the new folder.`;
  return findFileObjection(to, handOver.id);
}

/** Why the file cannot be written; `id` identifies the hand-over that may have been written there before. */
function findFileObjection(to: string, id: string | undefined): string | undefined {
  if (!existsSync(dirname(to))) return `The folder of ${to} does not exist.`;
  if (!existsSync(to)) return undefined;
  const there = readHandOver(to);
  if (there.ok && there.value.handOver.id === id) return undefined;
  return `The file ${to} exists already: name another one.`;
}

/** An objection that is known while the node still runs, so that it need not be stopped. */
export function findEarlyObjection({ dataPath, signer }: Settings, to: string): string | undefined {
  if (signer !== undefined) return KEY_IS_ELSEWHERE;
  const mark = readHandOverMark(dataPath);
  return mark.ok ? findFileObjection(to, mark.value.given?.id) : mark.error.message;
}

/** Writes the line that proves the mark, and gives the file its name. */
function finish(draft: string, { end }: HandOverText, to: string): void {
  withDiskErrors(`The file ${to} cannot be written`, () => {
    appendFileSync(draft, end);
    const file = openSync(draft, "r");
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, to);
    syncFolder(dirname(to));
  });
}
