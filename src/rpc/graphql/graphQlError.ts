import type { ASTNode } from "graphql";
import { expectDefined } from "../../primitives/assert.ts";
import type { RpcError } from "../errors/errors.ts";

/** An entry of `errors` in an answer. Members that are undefined are left out. */
export interface GraphQlError {
  readonly message: string;
  readonly locations?: readonly SourceLocation[] | undefined;
  readonly path?: readonly (string | number)[] | undefined;
  readonly extensions?: Readonly<Record<string, string | number>> | undefined;
}

/** A place in the query; both count from 1. */
export interface SourceLocation {
  readonly line: number;
  readonly column: number;
}

export type Classification =
  | "InvalidSyntax"
  | "ValidationError"
  | "DataFetchingException"
  | "NullValueInNonNullableField"
  | "OperationNotSupported"
  | "ExecutionAborted";

/** An answer without data: the query is not executed, or no further. */
export class Refusal extends Error {
  override name = "Refusal";
  readonly status: number;
  readonly errors: readonly GraphQlError[];

  constructor(status: number, errors: readonly GraphQlError[]) {
    super(errors[0]?.message ?? "refused");
    this.status = status;
    this.errors = errors;
  }
}

/** The refusal of a query that asks for more than an answer may cost. */
export function aborted(message: string): Refusal {
  return new Refusal(400, [{ message, extensions: { classification: "ExecutionAborted" } }]);
}

/** Why a field has no value, with a number and a text of JSON-RPC if it has one. */
export class FieldError extends Error {
  override name = "FieldError";
  readonly code: number | undefined;

  constructor(message: string, code?: number) {
    super(message);
    this.code = code;
  }
}

/** The error of JSON-RPC, as that of a field. */
export function rpcError({ code, message }: RpcError): FieldError {
  return new FieldError(message, code);
}

/** The place where a node begins. */
export function locationOf(node: ASTNode): SourceLocation {
  const { startToken } = expectDefined(node.loc, "the location of a node");
  return { line: startToken.line, column: startToken.column };
}
