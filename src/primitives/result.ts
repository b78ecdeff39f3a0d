/** Whose fault an error is: decides whether to penalise a peer, answer a caller, or warn the operator. */
export type Fault = "peer" | "caller" | "local";

/** An error as a value: a code for programs, a message for people, the facts for logs. */
export interface CodedError<Code extends string = string> {
  readonly code: Code;
  readonly message: string;
  readonly fault: Fault;
  readonly facts?: Readonly<Record<string, unknown>>;
}

interface Ok<T> {
  readonly ok: true;
  readonly value: T;
}

export interface Err<Code extends string = string> {
  readonly ok: false;
  readonly error: CodedError<Code>;
}

/** The result of an operation with expected errors; exceptions are for bugs and failures of the system. */
export type Result<T, Code extends string = string> = Ok<T> | Err<Code>;

export function ok<T>(value: T): Ok<T> {
  return { ok: true, value };
}

export function err<Code extends string>(error: CodedError<Code>): Err<Code> {
  return { ok: false, error };
}

/** Builds an expected error where it is found. `err` takes an error that has facts, or that another operation returned. */
export function fail<Code extends string>(fault: Fault, code: Code, message: string): Err<Code> {
  return err({ code, fault, message });
}
