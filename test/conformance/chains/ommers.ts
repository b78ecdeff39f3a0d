import { keccak256 } from "../../../src/primitives/hash.ts";
import { equalBytes } from "../../../src/primitives/hex.ts";
import { err, ok, type Result } from "../../../src/primitives/result.ts";
import type { Block } from "../../../src/types/block.ts";
import { encodeOmmers } from "../../../src/types/block.ts";
import { encodeHeader, type Header } from "../../../src/types/header.ts";
import { checkForeignHeader, type ForeignHeaderErrorCode } from "./foreignHeader.ts";
import type { ForeignRules } from "./foreignRules.ts";
import type { TreeBlock } from "./tree.ts";

export type OmmerErrorCode =
  | "wrongOmmersHash"
  | "tooManyOmmers"
  | "ommerTwice"
  | "ommerIsAncestor"
  | "ommerNotKin";

const MAX_OMMERS = 2;
/** An ommer's parent is an ancestor at most this many generations back. */
const KINSHIP = 7;

/** Checks the ommers of a block (yellow paper §11.1): related within KINSHIP, with valid headers, not included before. */
export function checkOmmers(
  rules: ForeignRules,
  parent: TreeBlock,
  { header, ommers }: Block,
): Result<void, OmmerErrorCode | ForeignHeaderErrorCode> {
  if (!equalBytes(header.ommersHash, keccak256(encodeOmmers(ommers))))
    return refuse("wrongOmmersHash", "the ommers are not those of the header");
  if (ommers.length > MAX_OMMERS) return refuse("tooManyOmmers", `${ommers.length} ommers`);
  const family = [...generations(parent)];
  const seen = family.flatMap(({ block }) => block.ommers.map(hashOf));
  for (const ommer of ommers) {
    const hash = hashOf(ommer);
    if (seen.some((other) => equalBytes(other, hash)))
      return refuse("ommerTwice", "an ommer is included twice");
    seen.push(hash);
    if (family.some((ancestor) => equalBytes(ancestor.hash, hash)))
      return refuse("ommerIsAncestor", "an ommer is an ancestor");
    const common = family.slice(1).find((ancestor) => equalBytes(ancestor.hash, ommer.parentHash));
    if (common === undefined) return refuse("ommerNotKin", "an ommer is not closely related");
    const checked = checkForeignHeader(rules, common, ommer);
    if (!checked.ok) return checked;
  }
  return ok(undefined);
}

function hashOf(header: Header): Uint8Array {
  return keccak256(encodeHeader(header));
}

/** The parent and its ancestors, up to KINSHIP generations. */
function* generations(parent: TreeBlock): Iterable<TreeBlock> {
  let ancestor: TreeBlock | undefined = parent;
  for (let count = 0; ancestor !== undefined && count < KINSHIP; count++) {
    yield ancestor;
    ancestor = ancestor.parent;
  }
}

function refuse(code: OmmerErrorCode, message: string): Result<void, OmmerErrorCode> {
  return err({ code, fault: "peer", message });
}
