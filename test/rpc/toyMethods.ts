import type { Logger } from "../../src/observability/logger.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { createDispatcher, type Dispatcher } from "../../src/rpc/dispatcher.ts";
import { ERRORS } from "../../src/rpc/errors/errors.ts";
import {
  type CallContext,
  JsonPieces,
  JsonStream,
  methodDefiner,
  type Namespace,
  optional,
  RawJson,
  type RpcMethod,
  required,
} from "../../src/rpc/method.ts";
import type { RpcMetrics } from "../../src/rpc/rpcMetrics.ts";

/** The backend of the toy methods, which records their calls. */
export interface ToyBackend {
  readonly calls: unknown[];
  /** Resolvers of the pending toy_hold calls, for the test to call. */
  readonly held: ((answer: string) => void)[];
  /** Contexts of the toy_hold calls. */
  readonly contexts: CallContext<unknown>[];
}

const defineToy = methodDefiner<ToyBackend>();

const TEXT = { name: "text", schema: { type: "string" } };
const common = { namespace: "ETH", summary: "", result: TEXT } as const;

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The given number of digits, in pieces that share one buffer and so cost no memory before they are sent. */
function sevens(length: number): Buffer[] {
  const pieces = Array<Buffer>(Math.floor(length / SEVENS.length)).fill(SEVENS);
  return [...pieces, SEVENS.subarray(0, length % SEVENS.length)];
}

/** As sevens; each piece is recorded when it is made. */
function* streamedSevens(length: number, { calls }: Pick<ToyBackend, "calls">): Generator<Buffer, void> {
  for (const piece of sevens(length)) {
    calls.push("piece");
    yield piece;
  }
}

const SEVENS = Buffer.alloc(1024 * 1024, "7");

/** A few methods with names that Besu knows, and some that misbehave. */
export const TOY_METHODS: readonly RpcMethod<ToyBackend>[] = [
  defineToy({
    ...common,
    name: "eth_chainId",
    parameters: [],
    ports: ["calls"],
    run: (_, { backend }) => {
      backend.calls.push("eth_chainId");
      return "0x1c03";
    },
  }),
  defineToy({
    ...common,
    name: "toy_stream",
    parameters: [required("length", (value) => (typeof value === "number" ? value : undefined))],
    ports: ["calls"],
    run: ([length], { backend }) => new JsonStream(length, streamedSevens(length, backend)),
  }),
  defineToy({ ...common, name: "net_version", namespace: "NET", parameters: [], run: () => "7171" }),
  defineToy({
    ...common,
    name: "eth_getBalance",
    parameters: [required("address", text), required("block", text)],
    run: ([address, block]) => `${address} at ${block}`,
  }),
  defineToy({
    ...common,
    name: "eth_getBlockByNumber",
    parameters: [required("block", text), required("isFull", (value) => value === true)],
    run: () => null,
  }),
  defineToy({
    ...common,
    name: "eth_sendRawTransaction",
    aliases: ["toy_send"],
    exactParams: 1,
    parameters: [required("raw", (value) => (value === "0x12" ? undefined : text(value)))],
    run: ([raw]) => raw,
  }),
  defineToy({
    ...common,
    name: "toy_optional",
    parameters: [optional("word", text)],
    run: ([word]) => word ?? "no word",
  }),
  defineToy({
    ...common,
    name: "toy_slow",
    parameters: [],
    run: () => {
      const untilMs = performance.now() + 6;
      while (performance.now() < untilMs);
      return "done";
    },
  }),
  defineToy({ ...common, name: "toy_later", parameters: [], run: async () => "later" }),
  defineToy({ ...common, name: "toy_refuses", parameters: [], run: () => ERRORS.blockNotFound }),
  defineToy({ ...common, name: "toy_invalid", parameters: [], run: () => ERRORS.invalidRequest }),
  defineToy({ ...common, name: "toy_null", parameters: [], run: () => null }),
  defineToy({ ...common, name: "toy_raw", parameters: [], run: () => new RawJson('{"a":[1,{"b":[]}]}') }),
  defineToy({
    ...common,
    name: "toy_throws",
    parameters: [],
    run: () => {
      throw new Error("a bug");
    },
  }),
  defineToy({
    ...common,
    name: "toy_rejects",
    parameters: [],
    run: () => Promise.reject(new Error("a bug")),
  }),
  defineToy({
    ...common,
    name: "toy_unserializable",
    parameters: [],
    run: () => ({ amount: 1n }) as never,
  }),
  defineToy({
    ...common,
    name: "toy_hold",
    mayOverlap: "many",
    parameters: [optional("label", text)],
    ports: ["calls", "contexts", "held"],
    run: ([label], context) => {
      const { backend } = context;
      backend.calls.push(label ?? "toy_hold");
      backend.contexts.push(context);
      return new Promise<string>((resolve) => backend.held.push(resolve));
    },
  }),
  defineToy({
    ...common,
    name: "toy_big",
    parameters: [required("length", (value) => (typeof value === "number" ? value : undefined))],
    ports: ["calls"],
    run: ([length], { backend }) => {
      backend.calls.push("toy_big");
      return "x".repeat(length);
    },
  }),
  defineToy({
    ...common,
    name: "toy_large",
    parameters: [],
    run: () => new RawJson(`"${"x€😀".repeat(300_000)}"`),
  }),
  defineToy({
    ...common,
    name: "toy_output",
    mayOverlap: "few",
    parameters: [required("length", (value) => (typeof value === "number" ? value : undefined))],
    ports: ["calls"],
    run: async ([length], { backend }) => {
      backend.calls.push("toy_output");
      return new JsonPieces(['"', ...sevens(length), '"']);
    },
  }),
  defineToy({
    ...common,
    name: "toy_pieces",
    parameters: [],
    run: async () => {
      const text = "é".repeat(100_000);
      return new JsonPieces(['["', ...Array<string>(10).fill(text), Buffer.from(text.repeat(10)), '"]']);
    },
  }),
];

export function aToyDispatcher(
  options: {
    readonly modules?: readonly Namespace[];
    readonly methods?: readonly RpcMethod<ToyBackend>[];
    readonly logger?: Logger;
    readonly metrics?: RpcMetrics;
  } = {},
): { readonly dispatcher: Dispatcher; readonly backend: ToyBackend } {
  const { modules = ["ETH", "NET"], methods = TOY_METHODS, logger = silentLogger, metrics } = options;
  const backend: ToyBackend = { calls: [], held: [], contexts: [] };
  const dispatcher = createDispatcher({ methods, modules: new Set(modules) }, { backend, logger, metrics });
  return { dispatcher, backend };
}
