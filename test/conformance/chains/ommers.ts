import { keccak256 } from "../../../src/primitives/hash.ts";
import { equalBytes } from "../../../src/primitives/hex.ts";
import { err, ok, type Result } from "../../../src/primitives/result.ts";
import type { Block } from "../../../src/types/block.ts";
import { encodeOmmers } from "../../../src/types/block.ts";
import { encodeHeader, type Header } from "../../../src/types/header.ts";
import { checkForeignHeader, type ForeignHeaderDefect } from "./foreignHeader.ts";
import type { ForeignRules } from "./foreignRules.ts";
import type { TreeBlock } from "./tree.ts";

export type OmmerDefect =
  | "wrongOmmersHash"
  | "tooManyOmmers"
  | "ommerTwice"
  | "ommerIsAncestor"
  | "ommerNotKin";

const MAX_OMMERS = 2;
/** An ommer's parent is an ancestor this many generations back at most. */
const KINSHIP = 7;

/** The ommers of a block whose parent is known (yellow paper §11.1): near kin, sound headers, each for the first time. */
export function checkOmmers(
  rules: ForeignRules,
  parent: TreeBlock,
  { header, ommers }: Block,
): Result<void, OmmerDefect | ForeignHeaderDefect> {
  if (!equalBytes(header.ommersHash, keccak256(encodeOmmers(ommers))))
    return refuse("wrongOmmersHash", "the ommers are not those of the header");
  if (ommers.length > MAX_OMMERS) return refuse("tooManyOmmers", `${ommers.length} ommers`);
  const family = [...generations(parent)];
  const seen = family.flatMap(({ block }) => block.ommers.map(hashOf));
  for (const ommer of ommers) {
    const hash = hashOf(ommer);
    if (seen.some((other) => equalBytes(other, hash)))
      return refuse("ommerTwice", "an ommer for the second time");
    seen.push(hash);
    if (family.some((ancestor) => equalBytes(ancestor.hash, hash)))
      return refuse("ommerIsAncestor", "an ancestor for an ommer");
    const common = family.slice(1).find((ancestor) => equalBytes(ancestor.hash, ommer.parentHash));
    if (common === undefined) return refuse("ommerNotKin", "an ommer that is no near kin");
    const verdict = checkForeignHeader(rules, common, ommer);
    if (!verdict.ok) return verdict;
  }
  return ok(undefined);
}

function hashOf(header: Header): Uint8Array {
  return keccak256(encodeHeader(header));
}

/** The parent and the ancestors before it, as far as kinship goes. */
function* generations(parent: TreeBlock): Iterable<TreeBlock> {
  let ancestor: TreeBlock | undefined = parent;
  for (let count = 0; ancestor !== undefined && count < KINSHIP; count++) {
    yield ancestor;
    ancestor = ancestor.parent;
  }
}

function refuse(code: OmmerDefect, message: string): Result<void, OmmerDefect> {
  return err({ code, fault: "peer", message });
}
