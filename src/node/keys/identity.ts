import { existsSync } from "node:fs";
import { DEV_VALIDATOR_ADDRESS, DEV_VALIDATOR_KEY_FILE } from "../../config/devNetwork.ts";
import type { KeystoreSettings, NodeKeySettings, Settings } from "../../config/settings.ts";
import type { Logger } from "../../observability/logger.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { decodeExtraData } from "../../types/extraData.ts";
import type { DataDirectory } from "../dataFolder/dataDirectory.ts";
import { readHandOverMark, refuseGivenKey, refuseUnfinished } from "../dataFolder/handOverMark.ts";
import { openKeystore } from "./keystoreFile.ts";
import { findLostKey } from "./lostKey.ts";
import { type NodeKey, openNodeKey, type StoredKey, type StoredKeyErrorCode } from "./nodeKey.ts";

export type IdentityErrorCode = StoredKeyErrorCode | "missingNodeKey" | "handedOver" | "unusableMark";

/**
 * Opens the node's key, and logs when it is new, when other users may read it, or when the development network has
 * another validator. An error when the key is missing although the folder has data of a node: a new key would silently
 * make this another validator; and when the folder gave this validator away (handOverMark.ts).
 */
export async function openIdentity(
  settings: Pick<Settings, "nodeKey" | "chainSpec">,
  directory: DataDirectory,
  logger: Logger,
): Promise<Result<NodeKey, IdentityErrorCode>> {
  const mark = readHandOverMark(directory.path);
  if (!mark.ok) return mark;
  const finished = refuseUnfinished(mark.value, directory.path);
  if (!finished.ok) return finished;
  const { keystore } = settings.nodeKey;
  const key =
    keystore === undefined
      ? openFromKeyFile(settings, directory, logger)
      : await openFromKeystore(keystore, directory, logger);
  if (!key.ok) return key;
  const refused = refuseGivenKey(mark.value, key.value.address, directory.path);
  return refused.ok ? key : refused;
}

function openFromKeyFile(
  { nodeKey: source, chainSpec }: Pick<Settings, "nodeKey" | "chainSpec">,
  directory: DataDirectory,
  logger: Logger,
): Result<NodeKey, IdentityErrorCode> {
  const lost = findLostKey(source, directory.path);
  if (lost !== undefined) return fail("local", "missingNodeKey", lost);
  const key = openNodeKey(source);
  if (!key.ok) return key;
  logNewKey(key.value, source, logger);
  const isPublic = equalBytes(key.value.address, DEV_VALIDATOR_ADDRESS);
  if (key.value.isExposed && !isPublic) {
    const { path } = source;
    logger.warn({ path }, `other users of this host may read the node's private key: chmod 600 ${path}`);
  }
  if (!isPublic && isOnlyValidatorPublic(chainSpec.genesis.header.extraData))
    logger.warn(
      { address: toHex(key.value.address), path: source.path },
      "this node is not a validator: the only validator in the genesis block is that of npm start, whose key is public, " +
        "and this node has another key. It needs a peer that makes the blocks; to make them on this node alone, start " +
        `with --node-private-key-file=${DEV_VALIDATOR_KEY_FILE}`,
    );
  return ok(key.value);
}

/** The plain key file is neither read nor written; a missing keystore is an error, whatever the folder has. */
async function openFromKeystore(
  keystore: KeystoreSettings,
  { keyFile }: DataDirectory,
  logger: Logger,
): Promise<Result<NodeKey, IdentityErrorCode>> {
  const { path } = keystore;
  logger.info({ path }, "opening the keystore of the node's key; this may take a few seconds");
  const key = await openKeystore(keystore);
  if (!key.ok) return key;
  const { exposed, ...identity } = key.value;
  for (const file of exposed)
    logger.warn({ path: file }, `other users of this host may read ${file}: chmod 600 ${file}`);
  if (existsSync(keyFile))
    logger.warn(
      { path: keyFile },
      `the node's key is that of the keystore, and the plain key file ${keyFile} is not used: keep a copy in a safe ` +
        "place if you need one, and remove it from this host",
    );
  logger.info({ address: toHex(identity.address), path }, "the keystore is open");
  return ok(identity);
}

function logNewKey(
  { isNew, address }: StoredKey,
  { path, initialKey }: NodeKeySettings,
  logger: Logger,
): void {
  if (!isNew) return;
  const facts = { address: toHex(address), path };
  if (initialKey !== undefined)
    logger.info(facts, "wrote the well-known key of the development network's validator");
  else
    logger.info(
      facts,
      `created a new node key: this node is ${facts.address}; keep a copy of ${path} in a safe place`,
    );
}

function isOnlyValidatorPublic(extraData: Uint8Array): boolean {
  const extra = decodeExtraData(extraData);
  const [validator, ...others] = extra.ok ? extra.value.validators : [];
  return validator !== undefined && others.length === 0 && equalBytes(validator, DEV_VALIDATOR_ADDRESS);
}
