import { existsSync } from "node:fs";
import { join } from "node:path";
import type { NodeKeySettings } from "../../config/settings.ts";

/**
 * Why no new key may be made: its file is missing although the folder has data of a node, which a new key would silently make
 * another one. Undefined when the key is there, or the folder has no such data.
 */
export function findLostKey(
  { path, initialKey }: Pick<NodeKeySettings, "path" | "initialKey">,
  dataPath: string,
): string | undefined {
  if (initialKey !== undefined || existsSync(path)) return undefined;
  const [chain, voteFile] = [join(dataPath, "chain"), join(dataPath, "votes.log")];
  const existing = existsSync(voteFile) ? voteFile : existsSync(join(chain, "CURRENT")) ? chain : undefined;
  if (existing === undefined) return undefined;
  return (
    `The node key file ${path} is missing, but ${existing} is there: a new key would make this another node, and a ` +
    "validator would be lost. Restore the file from a backup, or name it with --node-private-key-file, or with " +
    "--node-keystore-file if it is a keystore. If this is " +
    "meant to be another node, create a key with `ibex public-key export-address --new-key` and the same options, and delete " +
    `${voteFile} and ${voteFile}.mark.`
  );
}
