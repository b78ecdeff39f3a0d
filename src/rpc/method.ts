import type { JsonPiece } from "../primitives/jsonPieces.ts";
import type { Requester } from "../primitives/requester.ts";
import type { RpcError } from "./errors/errors.ts";
import { type Decoder, decodeList } from "./parameters/parameters.ts";
import type { RpcBackend } from "./ports.ts";
import type { EventText } from "./subscriptions/notificationText.ts";

/** A JSON-RPC method as clients see it. */
export interface MethodDescription {
  readonly name: string;
  /** Other names of the same method. */
  readonly aliases?: readonly string[];
  readonly namespace: Namespace | "EVERY";
  /** Other groups that also have the method. */
  readonly alsoIn?: readonly Namespace[];
  readonly summary: string;
  readonly parameters: readonly Parameter<unknown>[];
  /**
   * Any other number of parameters is -32602. When absent, surplus parameters are ignored (json-rpc.md#parameters,
   * "exact").
   */
  readonly exactParams?: number;
  readonly result: ResultDescription;
}

/**
 * A JSON-RPC method as data: a name, a module, decoders for the parameters, the ports that it needs, and a function from
 * decoded values to an answer. One table of them drives the dispatcher, `rpc_modules`, the OpenRPC document and the
 * conformance tests. `Backend` has at least the ports that the method names.
 */
export interface RpcMethod<Backend = RpcBackend> extends MethodDescription {
  /** Where its group is offered, the method takes the place of the one of the same name in another group. */
  readonly takesPlace?: boolean;
  /** The method changes the node or its behaviour: not offered to web pages of a foreign origin (server/foreignPages.ts). */
  readonly isGuarded?: boolean;
  /**
   * Set when neighbours in a batch may run at one time, started in order: for work done on other threads. Use "few" when
   * answers may be large. All other methods of a batch run one after another.
   */
  readonly mayOverlap?: "few" | "many";
  /** The members of the backend that `run` uses: its type has no others. None when absent. */
  readonly ports?: readonly (keyof Backend)[];
  /**
   * Answers for decoded parameters. A synchronous method returns no promise, so that the most frequent reads cost none.
   * An exception becomes -32603 and a log line.
   */
  readonly run: (params: readonly unknown[], context: CallContext<Backend>) => Answer | Promise<Answer>;
  /** Answers for the parameters as they came, in the place of decoding and `run`: where they are bounded first (explorer/offer.ts). */
  readonly runUndecoded?: (
    params: readonly unknown[],
    context: CallContext<Backend>,
  ) => Answer | Promise<Answer>;
}

/** Groups of methods that any network may have. */
export const NETWORK_NAMESPACES = [
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
  "OTS",
  "EXPLORER",
] as const;

/** Groups of the development network alone (development-network.md#the-comforts). */
const DEVELOPMENT_NAMESPACES = ["EVM", "HARDHAT", "ANVIL"] as const;

/** Groups of methods that an operator enables by name. A method of group "EVERY" is on every endpoint. */
export const NAMESPACES = [...NETWORK_NAMESPACES, ...DEVELOPMENT_NAMESPACES] as const;
export type Namespace = (typeof NAMESPACES)[number];

/** Groups for the operator, and those that change a development network: never offered to web pages of a foreign origin. */
export const OPERATOR_NAMESPACES: ReadonlySet<Namespace> = new Set([
  "ADMIN",
  "MINER",
  "PERM",
  ...DEVELOPMENT_NAMESPACES,
]);

/** A positional parameter. The method sees an optional one that is absent or null as undefined. */
export interface Parameter<T> {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  readonly decode: Decoder<T>;
  /** Takes all parameters from its position on, as a list, which may be empty. Only for the last parameter. */
  readonly isRest?: boolean;
  /** The error for a value that is absent or does not decode; undefined for plain -32602. */
  readonly explain?: (given: unknown) => RpcError | undefined;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

interface ResultDescription {
  readonly name: string;
  readonly schema: JsonSchema;
}

/** A value as JSON has it. A member that is undefined is left out. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [member: string]: Json | undefined };

/** A method's answer: a JSON value, text that is JSON already, or an error. Nothing else compiles, a Result least of all. */
export type Answer = Json | RawJson | JsonPieces | JsonStream | RpcError;

/** Text that is JSON already: blocks, lists of logs and other large answers are built as text. */
export class RawJson {
  readonly text: string;
  /** Whether the text is known to be of ASCII characters alone, which are sent faster. */
  readonly isAscii: boolean;

  constructor(text: string, alphabet?: "ascii") {
    this.text = text;
    this.isAscii = alphabet === "ascii";
  }
}

/** Like `RawJson`, in consecutive pieces: a very large answer is never held as one string. */
export class JsonPieces {
  readonly pieces: readonly JsonPiece[];

  constructor(pieces: readonly JsonPiece[]) {
    this.pieces = pieces;
  }
}

/** Like `JsonPieces`, but each piece is made when it is read: an answer of any size is never held as a whole. It can be read once. */
export class JsonStream {
  /** About the bytes that the answer keeps in memory until it is read to its end. */
  readonly heldBytes: number;
  readonly pieces: Iterable<JsonPiece>;

  constructor(heldBytes: number, pieces: Iterable<JsonPiece>) {
    this.heldBytes = heldBytes;
    this.pieces = pieces;
  }
}

/** What a method knows about the call besides its parameters. */
export interface CallContext<Backend> extends Requester {
  readonly backend: Backend;
  /** Modules that this endpoint offers. */
  readonly modules: ReadonlySet<Namespace>;
  /** Methods that this endpoint offers, each once. */
  readonly methods: readonly MethodDescription[];
  /** The connection of a caller over WebSocket or IPC; undefined over HTTP. */
  readonly connection: Connection | undefined;
  /** True when the caller no longer waits for the answer: long work should stop, and may answer anything. */
  isAbandoned(): boolean;
}

/** The context of a method that names these ports, for helpers that several methods share. */
export type ContextOf<Port extends keyof RpcBackend> = CallContext<Pick<RpcBackend, Port>>;

/** A connection over WebSocket or IPC, as subscriptions use it. */
export interface Connection {
  /** Sends one message, or closes the connection if it reads too slowly. */
  send(text: string): void;
  /** Like `send`, for an event notification to the subscription `id`. */
  notify(id: string, event: EventText): void;
  /** Whether so much waits to be sent that senders of large batches should serve other connections first. */
  isBehind(): boolean;
  /** Tells how many subscriptions the connection has now: with any, it ends when its token does. */
  subscribed(subscriptions: number): void;
  /** Closes the connection at once. */
  cut(): void;
  /** Closes the connection, and tells the client why: up to 123 bytes. Nothing more is sent to it. */
  close(reason: string): void;
  /** Calls `listener` once, when the connection has closed. */
  onClose(listener: () => void): void;
}

/** Types that a list of parameters decodes to. */
type Decoded<Parameters extends readonly Parameter<unknown>[]> = {
  readonly [Index in keyof Parameters]: Parameters[Index] extends Parameter<infer T> ? T : never;
};

/** A method as written: `run` gets the types that its parameters decode to, and the ports that `ports` names. */
interface MethodDefinition<
  Parameters extends readonly Parameter<unknown>[],
  Backend,
  Port extends keyof Backend,
> extends Omit<RpcMethod<Backend>, "parameters" | "ports" | "run"> {
  readonly parameters: Parameters;
  readonly ports?: readonly Port[];
  run(params: Decoded<Parameters>, context: CallContext<Pick<Backend, Port>>): Answer | Promise<Answer>;
}

/**
 * Returns the function that defines methods on ports of `Backend`. It checks the types of the decoded parameters and the
 * named ports against `run`, then erases the former. This is sound because the dispatcher decodes with the same list
 * before it calls `run`.
 */
export function methodDefiner<Backend>() {
  return <const Parameters extends readonly Parameter<unknown>[], const Port extends keyof Backend = never>(
    definition: MethodDefinition<Parameters, Backend, Port>,
  ): RpcMethod<Pick<Backend, Port>> => definition as unknown as RpcMethod<Pick<Backend, Port>>;
}

/** Defines a method of the node. */
export const defineMethod = methodDefiner<RpcBackend>();

/** A parameter that must be present. */
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

/** Any number of parameters, all decoded in the same way. */
export function rest<T>(
  name: string,
  decodeItem: Decoder<T>,
  schema: JsonSchema = {},
): Parameter<readonly T[]> {
  return { name, decode: decodeList(decodeItem), schema, isRequired: false, isRest: true };
}
