import { keccak256 } from "../../primitives/hash.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { type NodeRecord, parseNodeRecord, signerOf } from "./nodeRecord.ts";
import { bytesFromBase32, parseTreeUrl, type TreeUrl } from "./treeUrl.ts";

/** The root of a list of nodes in DNS (EIP-1459), which its owner signs. */
export interface TreeRoot {
  /** Grows with each change of the list. */
  readonly sequence: bigint;
  /** Hashes of the first entries: of the nodes, and of the links to other lists. */
  readonly nodes: string;
  readonly links: string;
}

/** Any other entry; its name is its hash. */
type TreeEntry =
  | { readonly kind: "branch"; readonly children: readonly string[] }
  | { readonly kind: "link"; readonly url: string; readonly tree: TreeUrl }
  | { readonly kind: "node"; readonly record: NodeRecord };

export type TreeErrorCode = "absentEntry" | "malformedEntry" | "badSignature";

/** Longest entry: go-ethereum's have at most 370 characters; DNS would allow 65,535. */
const MAX_ENTRY_CHARACTERS = 2048;

/** Finds the root among the texts at the list's domain, and verifies its owner's signature. */
export function readRoot(texts: readonly string[], publicKey: Uint8Array): Result<TreeRoot, TreeErrorCode> {
  const text = texts.find((one) => one.startsWith("enrtree-root:"));
  if (text === undefined) return fail("peer", "absentEntry", "there is no root at the domain");
  const [, signed = "", nodes = "", links = "", sequence = "", signature = ""] = ROOT.exec(text) ?? [];
  if (text.length > MAX_ENTRY_CHARACTERS || !isHash(nodes) || !isHash(links))
    return fail("peer", "malformedEntry", "the root is malformed");
  const bytes = Buffer.from(signature, "base64url");
  const isSigned =
    bytes.length === 65 &&
    signerOf(keccak256(Buffer.from(signed)), bytes.subarray(0, 64), publicKey) !== undefined;
  if (!isSigned) return fail("peer", "badSignature", "the root is not signed by the list's key");
  return ok({ sequence: BigInt(sequence), nodes, links });
}

/** The signed text ends before " sig=". */
const ROOT = /^(enrtree-root:v1 e=([A-Z2-7]+) l=([A-Z2-7]+) seq=(\d{1,20})) sig=([A-Za-z0-9_-]+)=?$/;

/** Finds the entry whose hash is its name among the texts at that name. */
export function readEntry(texts: readonly string[], hash: string): Result<TreeEntry, TreeErrorCode> {
  const expected = bytesFromBase32(hash) ?? new Uint8Array();
  const text = texts.find(
    (one) =>
      one.length <= MAX_ENTRY_CHARACTERS &&
      equalBytes(keccak256(Buffer.from(one)).subarray(0, expected.length), expected),
  );
  if (text === undefined) return fail("peer", "absentEntry", "an entry is missing, or its hash is wrong");
  if (text.startsWith(BRANCH)) {
    const children = text.slice(BRANCH.length).split(",");
    if (children.length === 1 && children[0] === "") return ok({ kind: "branch", children: [] });
    return children.every(isHash)
      ? ok({ kind: "branch", children })
      : fail("peer", "malformedEntry", "a branch is malformed");
  }
  if (text.startsWith("enrtree://")) {
    const tree = parseTreeUrl(text);
    return tree.ok
      ? ok({ kind: "link", url: text, tree: tree.value })
      : fail("peer", "malformedEntry", "a link is malformed");
  }
  const record = parseNodeRecord(text);
  return record.ok
    ? ok({ kind: "node", record: record.value })
    : fail("peer", "malformedEntry", record.error.message);
}

const BRANCH = "enrtree-branch:";

/** Whether a text is a hash: the first 16 bytes of keccak-256 in base32; the standard permits 12 to 32. */
function isHash(text: string): boolean {
  const length = bytesFromBase32(text)?.length ?? 0;
  return length >= 12 && length <= 32;
}
