import { isObject } from "./parameters/parameters.ts";
import type { SourceIds } from "./sourceIds.ts";

/** One element of a message, classified. `idText` is JSON, ready to be echoed. */
type ReadRequest =
  | Call
  | { readonly kind: "notification" }
  | { readonly kind: "invalid"; readonly idText: string };

export interface Call {
  readonly kind: "call";
  readonly idText: string;
  readonly method: string;
  readonly params: Params;
}

export type Params = readonly unknown[];

/**
 * Classifies one request as Besu does (json-rpc-errors.md#requests): any version and unknown members are accepted, a
 * method's name may be a number, parameters are positional only. A request without an id is a notification, which is
 * never executed.
 */
export function readRequest(value: unknown, sourceIds: SourceIds, index: number): ReadRequest {
  if (!isObject(value)) return INVALID;
  const { id } = value;
  const method = methodName(value["method"]);
  const params = value["params"] ?? NO_PARAMS;
  if (method === undefined || !Array.isArray(params)) {
    return isIntegerId(id, sourceIds, index) ? invalid(idText(id, sourceIds, index)) : INVALID;
  }
  if (id === undefined) return NOTIFICATION;
  const text = idText(id, sourceIds, index);
  return text === undefined ? INVALID : { kind: "call", idText: text, method, params };
}

const INVALID: ReadRequest = { kind: "invalid", idText: "null" };
const NOTIFICATION: ReadRequest = { kind: "notification" };
const NO_PARAMS: Params = [];

function invalid(text = "null"): ReadRequest {
  return { kind: "invalid", idText: text };
}

function methodName(method: unknown): string | undefined {
  if (typeof method === "string") return method;
  return typeof method === "number" || typeof method === "boolean" ? String(method) : undefined;
}

/** An id as JSON, exactly as received; undefined for an object, a list or a boolean, which cannot be ids. */
function idText(id: unknown, sourceIds: SourceIds, index: number): string | undefined {
  if (typeof id === "number") return Number.isSafeInteger(id) ? String(id) : sourceIds.at(index);
  if (typeof id === "string") return JSON.stringify(id);
  return id === null ? "null" : undefined;
}

/** The response to an invalid request echoes the id only when it is an integer. */
function isIntegerId(id: unknown, sourceIds: SourceIds, index: number): boolean {
  if (typeof id !== "number") return false;
  return Number.isSafeInteger(id) || /^-?[0-9]+$/.test(sourceIds.at(index) ?? "");
}
