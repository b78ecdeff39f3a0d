import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../src/observability/logger.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { createDispatcher } from "../../src/rpc/dispatcher.ts";
import { NAMESPACES, type Namespace } from "../../src/rpc/method.ts";
import { METHODS } from "../../src/rpc/methods/registry.ts";
import { createSubscriptionMethods } from "../../src/rpc/subscriptions/subscriptions.ts";
import { aCaller } from "../builders/aCaller.ts";
import { aChainSpec, anRpcBackend, poolOf } from "../builders/anRpcBackend.ts";
import { aStoredBlock } from "../builders/aStoredBlock.ts";
import { chainOf } from "../builders/recordedChain.ts";
import { describeWithVectors, vectorPath } from "../vectors.ts";
import { fits } from "./schemaFit.ts";

interface Descriptor {
  readonly name: string;
  readonly schema: unknown;
}

interface Document {
  readonly openrpc: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly methods: readonly {
    readonly name: string;
    readonly summary: string;
    readonly tags: readonly { readonly name: string }[];
    readonly paramStructure: string;
    readonly params: readonly (Descriptor & { readonly required: boolean })[];
    readonly result: Descriptor;
  }[];
}

async function discover(modules: ReadonlySet<Namespace>, connection?: "WebSocket"): Promise<Document> {
  const chain = chainOf([aStoredBlock({ number: 0 })]);
  const backend = anRpcBackend({ chain, spec: aChainSpec(chain, { chainId: 1n, fork: "london" }) });
  const subscriptions = createSubscriptionMethods({
    chain,
    pool: poolOf([]),
    onSyncChanged: () => () => undefined,
    logger: silentLogger,
  });
  const methods = connection === undefined ? METHODS : [...METHODS, ...subscriptions];
  const dispatcher = createDispatcher({ methods, modules }, { backend, logger: silentLogger });
  const request = { jsonrpc: "2.0", id: 1, method: "rpc.discover" };
  const reply = await dispatcher.answerRequest(request, JSON.stringify(request), aCaller);
  return (JSON.parse(expectDefined(reply, "the reply").text) as { result: Document }).result;
}

const EVERYTHING = new Set(NAMESPACES);

describe("rpc.discover", () => {
  it("describes every method of the endpoint under each of its names, and no other", async () => {
    const { methods } = await discover(EVERYTHING);
    // Some methods of development networks take the place of others.
    const names = [...new Set(METHODS.flatMap(({ name, aliases = [] }) => [name, ...aliases]))];
    expect(methods.map(({ name }) => name)).toEqual(names.sort());
    const overWebSocket = (await discover(EVERYTHING, "WebSocket")).methods.map(({ name }) => name);
    expect(overWebSocket.filter((name) => !names.includes(name))).toEqual([
      "eth_subscribe",
      "eth_unsubscribe",
    ]);
    const few = await discover(new Set(["NET"] as const));
    expect(few.methods.every(({ name }) => name.startsWith("net_") || name.startsWith("rpc"))).toBe(true);
    expect(few.methods.length).toBeGreaterThan(5);
  });

  it("conforms to the specification's meta-schema", async () => {
    const { openrpc, info, methods } = await discover(EVERYTHING, "WebSocket");
    expect(openrpc).toMatch(/^1\.[0-9]+\.[0-9]+$/);
    expect([info.title, info.version]).not.toContain("");
    expect(new Set(methods.map(({ name }) => name)).size).toBe(methods.length);
    for (const { name, summary, params, paramStructure, result, tags } of methods) {
      expect(summary, name).not.toBe("");
      expect(paramStructure, name).toBe("by-position");
      expect(new Set(params.map((parameter) => parameter.name)).size, name).toBe(params.length);
      for (const parameter of [...params, result]) {
        expect(parameter.name, name).not.toBe("");
        expect(schemaError(parameter.schema), `${name} ${parameter.name}`).toBeUndefined();
      }
      const firstOptional = params.findIndex(({ required }) => !required);
      const late = firstOptional < 0 ? [] : params.slice(firstOptional).filter(({ required }) => required);
      if (!REQUIRED_AFTER_OPTIONAL.has(name)) expect(late, name).toEqual([]);
      for (const tag of tags) expect(NAMESPACES).toContain(tag.name);
    }
  });
});

describe("the schemas of subscriptions", () => {
  it("accept valid parameters and no others", async () => {
    const accepts = acceptorOf(await discover(EVERYTHING, "WebSocket"));
    expect(accepts("eth_subscribe", "newHeads")).toBe(true);
    expect(accepts("eth_subscribe", "newPendingTransactions", { includeTransactions: true })).toBe(true);
    expect(accepts("eth_subscribe", "logs", { topics: [null], address: `0x${"11".repeat(20)}` })).toBe(true);
    expect(accepts("eth_subscribe")).toBe(false);
    expect(accepts("eth_subscribe", "newheads")).toBe(false);
    expect(accepts("eth_subscribe", "newHeads", 1)).toBe(false);
    expect(accepts("eth_subscribe", "newPendingTransactions", true)).toBe(true);
    expect(accepts("eth_unsubscribe", "0x1")).toBe(true);
    expect(accepts("eth_unsubscribe", 1)).toBe(true);
    expect(accepts("eth_unsubscribe")).toBe(false);
  });
});

describe("the schemas of traces", () => {
  it("accept valid parameters and no others", async () => {
    const accepts = acceptorOf(await discover(EVERYTHING));
    const calls = [[{ to: `0x${"11".repeat(20)}` }, ["trace"]]];
    expect(accepts("trace_callMany", calls, "latest")).toBe(true);
    expect(accepts("trace_callMany", calls, null)).toBe(true);
    expect(accepts("trace_callMany", calls)).toBe(false);
    const range = { fromBlock: "0x0", toBlock: "latest", fromAddress: `0x${"11".repeat(20)}`, count: 1 };
    expect(accepts("trace_filter", range)).toBe(true);
    const ofLogs = { address: `0x${"11".repeat(20)}`, topics: [null], blockHash: `0x${"12".repeat(32)}` };
    expect(accepts("trace_filter", { ...range, ...ofLogs })).toBe(true);
    expect(accepts("trace_filter", { ...range, mode: "union" })).toBe(true);
    expect(accepts("trace_filter", { ...range, mode: "both" })).toBe(false);
    expect(accepts("trace_filter", { ...range, sort: "union" })).toBe(false);
  });
});

/** Tells whether these parameters fit the schemas of a method. */
function acceptorOf({ methods }: Document): (name: string, ...given: readonly unknown[]) => boolean {
  return (name, ...given) => {
    const { params } = expectDefined(
      methods.find((method) => method.name === name),
      "the method",
    );
    return params.every(({ required, schema }, index) =>
      given[index] === undefined ? !required : fits(schema, given[index]),
    );
  };
}

describeWithVectors("the schemas of rpc.discover", () => {
  it("fit the recorded requests and results", async () => {
    const { methods } = await discover(EVERYTHING);
    const described = new Map(methods.map((method) => [method.name, method]));
    const misfits: string[] = [];
    let count = 0;
    for (const { file, request, result } of recordedExchanges()) {
      const method = described.get(request.method);
      if (method === undefined || ODD_REQUESTS.test(file)) continue;
      count++;
      method.params.forEach(({ name, required, schema }, index) => {
        const given = request.params?.[index] ?? undefined;
        const isFit = given === undefined ? !required : fits(schema, given);
        if (!isFit) misfits.push(`${file}: ${name} ${JSON.stringify(given)}`);
      });
      if (!OTHER_RESULTS.test(file) && !fits(method.result.schema, result)) misfits.push(`${file}: result`);
    }
    expect(misfits).toEqual([]);
    expect(count).toBeGreaterThan(1000);
  });
});

/** Requests with non-standard notations that are accepted, or with parameters that are ignored. */
const ODD_REQUESTS =
  /noprefix|bad-?(addr|to|topic|address)|decimal|upper|strings?\b|strbool|decstr|value-(dec|int)|-bad\.|empty-string|extraparams|junkparam|TxError|jsonrpc\/eth\/eth_(call_|getLogs_blockhash_missing)|storageRangeAt_(block|midBlock)/;

/** The standard answers null for an unknown block, Besu with an error. */
const OTHER_RESULTS = /get-block-receipts-(future|not-found)/;

interface Exchange {
  readonly file: string;
  readonly request: { readonly method: string; readonly params?: readonly unknown[] };
  readonly result: unknown;
}

/** Requests answered without an error: recordings of Besu, Besu's fixtures, and cases of the standard. */
function recordedExchanges(): readonly Exchange[] {
  const folders = [
    ...["net1", "net2", "net3"].map((network) => ["besu-ibft", network, "rpc"]),
    ["besu-jsonrpc", "jsonrpc"],
    ["execution-apis"],
  ].map((segments) => vectorPath(...segments));
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(json|json\.gz|io)$/.test(file))
      .flatMap((file) => exchangesOf(join(folder, file))),
  );
}

function exchangesOf(file: string): readonly Exchange[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  const pairs = file.endsWith(".io") ? conversation(text) : [JSON.parse(text) as RecordedPair];
  return pairs.flatMap(({ request, response }) => {
    const isAnswered = request?.method !== undefined && response?.result !== undefined;
    return isAnswered ? [{ file, request, result: response.result }] : [];
  });
}

interface RecordedPair {
  readonly request?: Exchange["request"];
  readonly response?: { readonly result?: unknown } | null;
}

function conversation(text: string): readonly RecordedPair[] {
  const messages = (mark: string) =>
    text.split("\n").flatMap((line) => (line.startsWith(mark) ? [JSON.parse(line.slice(3))] : []));
  const responses = messages("<< ");
  return messages(">> ").map((request, index) => ({ request, response: responses[index] }));
}

/** Methods whose optional parameter is ignored and comes before required ones. */
const REQUIRED_AFTER_OPTIONAL = new Set(["debug_accountRange"]);

const TYPES = ["string", "boolean", "integer", "number", "object", "array", "null"];
const KEYWORDS = new Set([
  "type",
  "pattern",
  "enum",
  "oneOf",
  "anyOf",
  "items",
  "properties",
  "required",
  "additionalProperties",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "maxProperties",
  "description",
  "title",
]);

/** What is invalid about a schema, within the part of JSON Schema that we use. */
function schemaError(schema: unknown): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return `${String(schema)}`;
  for (const [keyword, value] of Object.entries(schema)) {
    if (!KEYWORDS.has(keyword)) return `unknown keyword ${keyword}`;
    const error = keywordError(keyword, value);
    if (error !== undefined) return `${keyword}: ${error}`;
  }
  return undefined;
}

function keywordError(keyword: string, value: unknown): string | undefined {
  switch (keyword) {
    case "type":
      return TYPES.includes(String(value)) ? undefined : String(value);
    case "pattern":
      return typeof value === "string" && new RegExp(value) ? undefined : "not text";
    case "oneOf":
    case "anyOf":
      return Array.isArray(value)
        ? value.map(schemaError).find((error) => error !== undefined)
        : "not a list";
    case "items":
      return Array.isArray(value)
        ? value.map(schemaError).find((error) => error !== undefined)
        : schemaError(value);
    case "additionalProperties":
      return schemaError(value);
    case "properties":
      return Object.values(value as object)
        .map(schemaError)
        .find((error) => error !== undefined);
    default:
      return undefined;
  }
}
