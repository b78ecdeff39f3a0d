import type { Settings } from "../../config/settings.ts";
import { readHandOverMark, writeHandOverMark } from "../../node/dataFolder/handOverMark.ts";
import { toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { findRunning } from "./findRunning.ts";
import type { Place } from "./place.ts";
import { openExistingKey, type StoppedFolder } from "./stoppedFolder.ts";
import { replaceVotes } from "./votes.ts";

interface UndoRequest {
  readonly settings: Settings;
  /** Places of the new node that the operator names. */
  readonly places: readonly Place[];
  /** Whether the operator asserts that nobody has taken over the validator. */
  readonly isNeverTaken: boolean;
}

/**
 * Makes the folder of a stopped node the validator's again. If another node may have run with the key, the votes here are
 * older than that node's, and are set aside: the validator is silent at first (ibft2.md#lost-votes). Throws DiskError.
 */
export async function undoHandOver(
  { settings, places, isNeverTaken }: UndoRequest,
  folder: StoppedFolder,
): Promise<Result<{ readonly address: string }, "refused">> {
  const { dataPath, nodeKey: source } = settings;
  const mark = readHandOverMark(dataPath);
  if (!mark.ok) return fail("caller", "refused", mark.error.message);
  const { given, taking, past } = mark.value;
  if (given === undefined)
    return fail("caller", "refused", `No validator was handed over from ${dataPath}. Nothing is changed.`);
  const key = await openExistingKey(source);
  if (!key.ok) return fail("caller", "refused", key.error.message);
  if (toHex(key.value.address) !== given.address)
    return fail(
      "caller",
      "refused",
      `The validator ${given.address} was handed over from ${dataPath}, but the node's key is another one, ` +
        `${toHex(key.value.address)}. Put the key back first.`,
    );
  const running = await findRunning(key.value, places);
  if (running.length > 0)
    return fail(
      "caller",
      "refused",
      `The new node runs:\n${running.map(({ reason }) => `  ${reason}`).join("\n")}\nStop it first.`,
    );
  if (!isNeverTaken)
    await replaceVotes(folder.voteFile, undefined, `${folder.voteFile}.before-${given.id.slice(0, 8)}`);
  writeHandOverMark(dataPath, { ...(taking && { taking }), past });
  return ok({ address: given.address });
}
