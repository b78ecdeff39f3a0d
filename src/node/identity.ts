import { existsSync } from "node:fs";
import { join } from "node:path";
import { DEV_VALIDATOR_ADDRESS, DEV_VALIDATOR_KEY_FILE } from "../config/devNetwork.ts";
import type { NodeKeySettings, Settings } from "../config/settings.ts";
import type { Logger } from "../observability/logger.ts";
import { equalBytes, toHex } from "../primitives/hex.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import { decodeExtraData } from "../types/extraData.ts";
import type { DataDirectory } from "./dataDirectory.ts";
import { type NodeKey, openNodeKey, type StoredKey, type StoredKeyErrorCode } from "./nodeKey.ts";

export type IdentityErrorCode = StoredKeyErrorCode | "missingNodeKey";

/**
 * The node's key, with what an operator has to know of it said: that it was made just now, that others may read it, or
 * that the development network's only validator is somebody else. Refused when there is none beside data of a node that
 * had one: a new key would be another validator, and nobody would notice before the chain stands.
 */
export function openIdentity(
  { nodeKey: source, chainSpec }: Pick<Settings, "nodeKey" | "chainSpec">,
  directory: DataDirectory,
  logger: Logger,
): Result<NodeKey, IdentityErrorCode> {
  const lost = findLostKey(source, directory);
  if (lost !== undefined) return err({ code: "missingNodeKey", fault: "local", message: lost });
  const key = openNodeKey(source);
  if (!key.ok) return key;
  tellNewKey(key.value, source, logger);
  const isPublic = equalBytes(key.value.address, DEV_VALIDATOR_ADDRESS);
  if (key.value.isExposed && !isPublic) {
    const { path } = source;
    logger.warn({ path }, `other users of this machine may read the node's private key: chmod 600 ${path}`);
  }
  if (!isPublic && isOnlyValidatorPublic(chainSpec.genesis.header.extraData))
    logger.warn(
      { address: toHex(key.value.address), path: source.path },
      "this node follows: the only validator in the genesis block is that of npm start, whose key is public, and this " +
        "node has a key of its own. It needs a peer that makes the blocks; to make them here, and nowhere else, " +
        `start with --node-private-key-file=${DEV_VALIDATOR_KEY_FILE}`,
    );
  return ok(key.value);
}

/** What to do about a key that is gone, or undefined when none is. */
function findLostKey(
  { path, initialKey }: NodeKeySettings,
  { chain, voteFile }: DataDirectory,
): string | undefined {
  if (initialKey !== undefined || existsSync(path)) return undefined;
  const left = existsSync(voteFile) ? voteFile : existsSync(join(chain, "CURRENT")) ? chain : undefined;
  if (left === undefined) return undefined;
  return (
    `The node key file ${path} is missing, but ${left} is there: a new key would make this another node, and a ` +
    "validator would be lost. Put the file back from a backup, or name its place with --node-private-key-file. If it " +
    "is to be another node, make a new key with `ibex public-key export-address` and the same options, and delete " +
    `${voteFile} and ${voteFile}.mark.`
  );
}

function tellNewKey(
  { isNew, address }: StoredKey,
  { path, initialKey }: NodeKeySettings,
  logger: Logger,
): void {
  if (!isNew) return;
  const facts = { address: toHex(address), path };
  if (initialKey !== undefined)
    logger.info(facts, "wrote the public key of the development network's validator");
  else
    logger.info(
      facts,
      `made a new node key: this node is ${facts.address}; keep a copy of ${path} in a safe place`,
    );
}

function isOnlyValidatorPublic(extraData: Uint8Array): boolean {
  const extra = decodeExtraData(extraData);
  const [validator, ...others] = extra.ok ? extra.value.validators : [];
  return validator !== undefined && others.length === 0 && equalBytes(validator, DEV_VALIDATOR_ADDRESS);
}
