import { type DifferingPlace, differingPlaces } from "./differingPlaces.ts";
import type { RpcAnswer, RpcRequest } from "./endpoint.ts";
import { explanationOf } from "./explainedDifferences.ts";
import { rawWithoutSeals, withoutSeals } from "./withoutSeals.ts";

/** Which node is Besu and which is Ibex; undefined when both are the same client, or another one. */
export type Roles = "oursIsIbex" | "oursIsBesu" | undefined;

/** The result of comparing two answers. */
export type Finding =
  | { readonly kind: "same" }
  | { readonly kind: "notEnabled"; readonly side: Side }
  | { readonly kind: "notCompared"; readonly reason: string; readonly side: Side }
  | { readonly kind: "explained"; readonly row: string }
  | { readonly kind: "different"; readonly places: readonly DifferingPlace[] };

export type Side = "ours" | "theirs";

export interface Answers {
  readonly ours: RpcAnswer;
  readonly theirs: RpcAnswer;
}

/** Codes of "method not found", and of Besu's answer for a method that no enabled group has. */
const NOT_ENABLED_CODES: readonly string[] = ["\u0000-32601", "\u0000-32604"];

/** Why an answer is not compared: the node has removed old states or blocks, or was made from a snapshot. */
export const NO_STATE = "it no longer has the state of that block";
export const NO_BLOCK = "it no longer has that block";

/** Methods that return null, or STATE_UNAVAILABLE, at a block whose state a node no longer keeps. */
const READS_STATE = /^eth_(getBalance|getTransactionCount|getCode|getStorageAt|call|getProof)$/;
const STATE_UNAVAILABLE = /world state unavailable/i;
/** The code of execution-apis for a range with blocks that the node has removed. */
const PRUNED_CODE = "\u00004444";

export function compareAnswers(
  request: RpcRequest,
  { ours, theirs }: Answers,
  roles: Roles,
  transactionIndex: number | undefined,
): Finding {
  if (ours.kind === "unread") return { kind: "notCompared", reason: ours.reason, side: "ours" };
  if (theirs.kind === "unread") return { kind: "notCompared", reason: theirs.reason, side: "theirs" };
  if (isNotEnabled(ours)) return { kind: "notEnabled", side: "ours" };
  if (isNotEnabled(theirs)) return { kind: "notEnabled", side: "theirs" };
  const [compared, withThem] = [comparedOf(request.method, ours), comparedOf(request.method, theirs)];
  const places = differingPlaces(compared, withThem);
  if (places.length === 0) return { kind: "same" };
  const withoutState = sideWhere((answer) => lacksState(request.method, answer), ours, theirs);
  if (withoutState !== undefined) return { kind: "notCompared", reason: NO_STATE, side: withoutState };
  const withoutBlock = sideWhere(({ error }) => codeOf(error) === PRUNED_CODE, ours, theirs);
  if (withoutBlock !== undefined) return { kind: "notCompared", reason: NO_BLOCK, side: withoutBlock };
  if (roles === undefined) return { kind: "different", places };
  const isOursIbex = roles === "oursIsIbex";
  const row = explanationOf({
    method: request.method,
    params: request.params,
    besu: isOursIbex ? withThem : compared,
    ibex: isOursIbex ? compared : withThem,
    places: isOursIbex
      ? places
      : places.map((place) => ({ ...place, ours: place.theirs, theirs: place.ours })),
    transactionIndex,
  });
  return row === undefined ? { kind: "different", places } : { kind: "explained", row };
}

type Read = Extract<RpcAnswer, { kind: "answer" }>;

const ANSWERS_HEADER = /^(eth_get(Block|Header)By(Hash|Number)|erigon_getHeaderByNumber)$/;
const ANSWERS_RAW_HEADER = /^debug_getRaw(Block|Header)$/;

/** The compared part of an answer: the members that matter, and of a header's extra data only what its hash covers. */
function comparedOf(method: string, answer: Read): unknown {
  if (answer.error === undefined && ANSWERS_HEADER.test(method))
    return { result: withoutSeals(answer.result) };
  if (answer.error === undefined && ANSWERS_RAW_HEADER.test(method))
    return { result: rawWithoutSeals(answer.result) };
  return membersOf(answer);
}

/** The members that matter, without the id and the version of JSON-RPC. */
export function membersOf(answer: RpcAnswer): unknown {
  if (answer.kind === "unread") return { unread: answer.reason };
  return answer.error === undefined ? { result: answer.result } : { error: answer.error };
}

/** The only node without an answer, such as one that is a moment behind. */
export function sideWithoutAnswer({ ours, theirs }: Answers): Side | undefined {
  if (ours.kind === "unread" || theirs.kind === "unread" || isMissing(ours) === isMissing(theirs))
    return undefined;
  return isMissing(ours) ? "ours" : "theirs";
}

function isMissing({ result, error }: Read): boolean {
  return error !== undefined || result === null;
}

function isNotEnabled({ error }: Read): boolean {
  return NOT_ENABLED_CODES.includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return String((Object(error) as { readonly code?: unknown }).code);
}

function sideWhere(holds: (answer: Read) => boolean, ours: Read, theirs: Read): Side | undefined {
  if (holds(ours)) return "ours";
  return holds(theirs) ? "theirs" : undefined;
}

function lacksState(method: string, { result, error }: Read): boolean {
  if (error === undefined) return result === null && READS_STATE.test(method);
  return STATE_UNAVAILABLE.test(String((Object(error) as { readonly message?: unknown }).message));
}
