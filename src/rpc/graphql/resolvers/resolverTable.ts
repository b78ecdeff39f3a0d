import type { Budget } from "../execution/budget.ts";
import type { GraphQlContext } from "../request.ts";
import type { Values } from "../values.ts";

/** What a field may use besides its object and its arguments. */
export interface FieldContext {
  readonly request: GraphQlContext;
  readonly budget: Budget;
}

/** Gives the value of a field of an object; undefined for null. */
export type Resolve = (source: never, args: Values, context: FieldContext) => unknown;

/** Functions that give the values of fields, by type and field. A field that is absent has no value. */
export type ResolverTable = Readonly<Record<string, Readonly<Record<string, Resolve>>>>;

/** The number that an argument is, undefined without one. */
export function longOf(value: unknown): bigint | undefined {
  return typeof value === "bigint" ? value : undefined;
}

/** The bytes that an argument is, undefined without one. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  return value instanceof Uint8Array ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
