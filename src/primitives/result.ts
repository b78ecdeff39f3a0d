/** Whose fault a refusal is: it decides whether a peer is blamed, a caller told, or the operator warned. */
export type Fault = "peer" | "caller" | "local";

/** A refusal as a value: a code for programs, a message for people, the facts for logs. */
export interface CodedError<Code extends string = string> {
  readonly code: Code;
  readonly message: string;
  readonly fault: Fault;
  readonly facts?: Readonly<Record<string, unknown>>;
}

export interface Ok<T> {
  readonly ok: true;
  readonly value: T;
}

export interface Err<Code extends string = string> {
  readonly ok: false;
  readonly error: CodedError<Code>;
}

/** What an operation that can be refused answers; exceptions are left for bugs and broken machinery. */
export type Result<T, Code extends string = string> = Ok<T> | Err<Code>;

export function ok<T>(value: T): Ok<T> {
  return { ok: true, value };
}

export function err<Code extends string>(error: CodedError<Code>): Err<Code> {
  return { ok: false, error };
}
