import type { JsonPiece } from "../primitives/jsonPieces.ts";
import type { Requester } from "../primitives/requester.ts";
import type { RpcError } from "./errors/errors.ts";
import { type Decoder, decodeList } from "./parameters/parameters.ts";
import type { RpcBackend } from "./ports.ts";
import type { EventText } from "./subscriptions/notificationText.ts";

/**
 * JSON-RPC methods are data: a name, a module, decoders for the parameters, and a function from decoded values to an
 * answer. One table of them drives the dispatcher, `rpc_modules`, an OpenRPC document and the conformance tests.
 */
export interface RpcMethod<Backend = RpcBackend> {
  readonly name: string;
  /** Other names that mean the same. */
  readonly aliases?: readonly string[];
  readonly namespace: Namespace | "EVERY";
  /** Other groups that have the method, too. */
  readonly alsoIn?: readonly Namespace[];
  readonly summary: string;
  /** It changes the node, or what it does: not offered to web pages of a foreign origin (server/foreignPages.ts). */
  readonly isGuarded?: boolean;
  readonly parameters: readonly Parameter<unknown>[];
  /**
   * Any other number of parameters is -32602; without it surplus ones are ignored (json-rpc.md#parameters,
   * "exact").
   */
  readonly exactParams?: number;
  readonly result: ResultDescription;
  /**
   * Given when neighbours in a batch may be under way at one time, in the order of their start: for work that other
   * threads do. Few of those whose answers may be large. All else in a batch runs one after another.
   */
  readonly mayOverlap?: "few" | "many";
  /**
   * Answers for parameters that have been decoded. A method that needs no waiting answers without a promise, so that
   * the most frequent reads cost none. What it throws becomes -32603 and a log line.
   */
  run(params: readonly unknown[], context: CallContext<Backend>): Answer | Promise<Answer>;
}

/** Groups of methods that an operator enables by name; "EVERY" as a method's group means every endpoint that has it. */
export const NAMESPACES = [
  "ETH",
  "DEBUG",
  "MINER",
  "NET",
  "PERM",
  "WEB3",
  "ADMIN",
  "EEA",
  "PRIV",
  "TXPOOL",
  "TRACE",
  "PLUGINS",
  "CLIQUE",
  "IBFT",
  "ENGINE",
  "QBFT",
] as const;
export type Namespace = (typeof NAMESPACES)[number];

/** Groups that are the operator's: web pages of a foreign origin are offered none of them. */
export const OPERATOR_NAMESPACES: ReadonlySet<Namespace> = new Set(["ADMIN", "MINER", "PERM"]);

/** A positional parameter. An optional one that is absent or null is undefined to the method. */
export interface Parameter<T> {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  readonly decode: Decoder<T>;
  /** Stands for all parameters from its place on, also for none; it is given their list. Only the last can be it. */
  readonly isRest?: boolean;
  /** What to answer for a value that is absent or does not decode, where plain -32602 is not all. */
  readonly explain?: (given: unknown) => RpcError;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ResultDescription {
  readonly name: string;
  readonly schema: JsonSchema;
}

/** What a method answers: a value for JSON.stringify, text that is JSON already, or a refusal. */
export type Answer = string | number | boolean | null | object | RawJson | JsonPieces | RpcError;

/** JSON that needs no stringifying again: blocks, lists of logs and other large answers are built as text. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** As RawJson, in pieces that follow one another: a very large answer is sent so, never held as one text. */
export class JsonPieces {
  readonly pieces: readonly JsonPiece[];

  constructor(pieces: readonly JsonPiece[]) {
    this.pieces = pieces;
  }
}

/** What a method knows of the call beside its parameters. */
export interface CallContext<Backend = RpcBackend> extends Requester {
  readonly backend: Backend;
  /** The modules that this endpoint offers. */
  readonly modules: ReadonlySet<Namespace>;
  /** The methods that it has, each once. */
  readonly methods: readonly RpcMethod<Backend>[];
  /** The WebSocket connection that asks; undefined over HTTP. */
  readonly connection: Connection | undefined;
  /** True when nobody waits for the answer any more: long work should stop, and may answer anything. */
  isAbandoned(): boolean;
}

/** A WebSocket connection as subscriptions use it. */
export interface Connection {
  /** Sends one message. A connection that reads too slowly is cut instead. */
  send(text: string): void;
  /** As send, for the notification of an event to the subscription `id`. */
  notify(id: string, event: EventText): void;
  /** Whether so much waits to be sent that whoever has much more to tell it had better tell others first. */
  isBehind(): boolean;
  /** Cuts the connection. */
  cut(): void;
  /** Calls `listener` once, when the connection is gone. */
  onClose(listener: () => void): void;
}

/** Values that a list of parameters decodes to. */
export type Decoded<Parameters extends readonly Parameter<unknown>[]> = {
  readonly [Index in keyof Parameters]: Parameters[Index] extends Parameter<infer T> ? T : never;
};

/** A method as it is written: `run` sees the types that its parameters decode to. */
export interface MethodDefinition<Parameters extends readonly Parameter<unknown>[], Backend>
  extends Omit<RpcMethod<Backend>, "parameters" | "run"> {
  readonly parameters: Parameters;
  run(params: Decoded<Parameters>, context: CallContext<Backend>): Answer | Promise<Answer>;
}

/**
 * Ties the types of decoded parameters to what `run` expects, then forgets them: the dispatcher decodes by the same
 * list before it calls, so the values are what `run` was promised.
 */
export function defineMethod<const Parameters extends readonly Parameter<unknown>[], Backend = RpcBackend>(
  definition: MethodDefinition<Parameters, Backend>,
): RpcMethod<Backend> {
  return definition as unknown as RpcMethod<Backend>;
}

/** A parameter that must be there. */
export function required<T>(name: string, decode: Decoder<T>, schema: JsonSchema = {}): Parameter<T> {
  return { name, decode, schema, isRequired: true };
}

/** A parameter that may be absent or null. */
export function optional<T>(
  name: string,
  decode: Decoder<T>,
  schema: JsonSchema = {},
): Parameter<T | undefined> {
  return { name, decode, schema, isRequired: false };
}

/** Any number of parameters that decode alike. */
export function rest<T>(
  name: string,
  decodeItem: Decoder<T>,
  schema: JsonSchema = {},
): Parameter<readonly T[]> {
  return { name, decode: decodeList(decodeItem), schema, isRequired: false, isRest: true };
}
