import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/logging/logger.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { present } from "../../../src/primitives/assert.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { NAMESPACES, type Namespace } from "../../../src/rpc/method.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import { isAbsent } from "../../../src/rpc/parameters.ts";
import type { RpcBackend } from "../../../src/rpc/ports.ts";
import { aChainSpec, anRpcBackend, RPC_SETTINGS } from "../../builders/anRpcBackend.ts";
import { type RecordedChain, recordedChain } from "../../builders/recordedChain.ts";
import { describeWithVectors, readVectorJson, vectorPath } from "../../vectors.ts";

/**
 * Answers of a live network of the incumbent, asked again of our methods over its recorded blocks and receipts. Left
 * out are answers that need what a recorded chain has not: state, execution, a filled pool, a growing chain. Their
 * refusals are compared all the same.
 */

interface RecordedCase {
  /** Its group and name, as the list of exceptions has it. */
  readonly name: string;
  readonly request?: { readonly method: string; readonly params?: readonly unknown[] };
  readonly response: {
    readonly result?: unknown;
    readonly error?: { code: number; message: string; data?: string };
  };
  /** The answer holds at every head from the first to the second. */
  readonly heads?: readonly [number, number] | null;
}

interface Exception {
  readonly compare?: "set" | "shape" | "sequence";
  readonly ruling?: string;
}

const OURS = new Set(METHODS.flatMap(({ name, aliases }) => [name, ...(aliases ?? [])]));

/** Their results come from the state; their refusals of parameters do not. */
const NEED_STATE = new Set([
  "eth_call",
  "eth_createAccessList",
  "eth_estimateGas",
  "eth_getBalance",
  "eth_getCode",
  "eth_getProof",
  "eth_getStorageAt",
  "eth_getTransactionCount",
]);
const PARAMETER_REFUSALS = new Set(["Invalid params", "Block not found", "Internal error"]);

/** Groups that were asked of other nodes than the one whose chain was recorded, with other settings, or in one story. */
const OTHER_NODES = new Set([
  "mingasprice-1000-nolocals",
  "miner",
  "ibft-scenario",
  "filters",
  "transport",
  "txpool",
]);

describeWithVectors("answers recorded from a live network", () => {
  describe.each(["net1", "net2"] as const)("%s", (network) => {
    const chain = recordedChain(network);
    const ask = askerOf(backendLike(network, chain));
    const exceptions = readVectorJson<{ cases: Record<string, Exception> }>(
      "besu-ibft",
      network,
      "rpc-volatile.json",
    ).cases;
    const cases = readCases(network).filter((recorded) => isAnswerable(recorded, exceptions[recorded.name]));
    const names = [...new Set(cases.map(({ request }) => request?.method ?? ""))].sort();

    it("covers most of what was recorded", () => {
      expect(cases.length).toBeGreaterThan(330);
    });

    it.each(names)("%s", async (method) => {
      for (const recorded of cases.filter(({ request }) => request?.method === method)) {
        for (const head of headsOf(recorded, chain)) {
          chain.moveHead(head);
          const label = `${recorded.name} at ${head}`;
          const text = await ask(recorded.request);
          const { compare, ruling } = exceptions[recorded.name] ?? {};
          if (ruling?.includes("finalized and safe") === true) {
            expect(text, label).toBe(await ask(withLatest(recorded.request)));
            expect(text, label).toContain('"result":');
          } else if (compare === "shape") {
            const shape = (answer: object) => JSON.stringify(answer).replace(/:"[^"]*"/g, ":text");
            expect(shape(JSON.parse(text)), label).toBe(shape(recorded.response));
          } else {
            expect(text, label).toBe(JSON.stringify(recorded.response));
          }
        }
      }
    });
  });
});

function isAnswerable({ name, request, response }: RecordedCase, exception: Exception | undefined): boolean {
  const [group = ""] = name.split("/");
  if (request === undefined || OTHER_NODES.has(group) || exception?.compare === "sequence") return false;
  if (!OURS.has(request.method)) return false;
  const isRefusal = response.error !== undefined && PARAMETER_REFUSALS.has(response.error.message);
  if (NEED_STATE.has(request.method)) return isRefusal && exception?.ruling === undefined;
  return isRefusal || request.method !== "eth_sendRawTransaction";
}

/** Both ends of the range in which the answer holds; the last block where any head would do. */
function headsOf({ heads }: RecordedCase, chain: RecordedChain): readonly number[] {
  return isAbsent(heads) ? [chain.blocks.length - 1] : [...new Set(heads)];
}

function askerOf(backend: RpcBackend): (request: unknown) => Promise<string> {
  const dispatcher = createDispatcher(
    { methods: METHODS, modules: MODULES },
    { backend, logger: silentLogger },
  );
  const caller = { connection: undefined, isAbandoned: () => false };
  return async (request) => {
    const reply = await dispatcher.answerRequest(request, JSON.stringify(request), caller);
    return present(reply, "the reply").text;
  };
}

/** The same request for the head. */
function withLatest(request: RecordedCase["request"]): RecordedCase["request"] {
  const params = request?.params?.map((value) =>
    value === "finalized" || value === "safe" ? "latest" : value,
  );
  return request && params ? { ...request, params } : request;
}

/** In the order in which the recorded node lists them. */
const MODULES: ReadonlySet<Namespace> = new Set(
  ["TXPOOL", "TRACE", "DEBUG", "PERM", "IBFT", "PLUGINS", "ETH", "WEB3", "ADMIN", "NET", "MINER"].map(
    (name) =>
      present(
        NAMESPACES.find((known) => known === name),
        name,
      ),
  ),
);

function backendLike(network: "net1" | "net2", chain: RecordedChain): RpcBackend {
  const isFirst = network === "net1";
  const coinbase = readCase(vectorPath("besu-ibft", network, "rpc", "basic", "eth_coinbase.json"));
  const services = readCase(vectorPath("besu-ibft", network, "rpc", "basic", "net_services.json")).response
    .result as {
    [service in "jsonrpc" | "ws" | "p2p"]: { host: string; port: string };
  };
  const endpoint = ({ host, port }: { host: string; port: string }) => ({ host, port: Number(port) });
  return anRpcBackend({
    chain,
    spec: aChainSpec(chain, {
      chainId: isFirst ? 7171n : 7772n,
      fork: isFirst ? "berlin" : "london",
      isZeroBaseFee: !isFirst,
      rewardWei: 100_000_000_000_000n,
    }),
    settings: { ...RPC_SETTINGS, networkId: isFirst ? 7171n : 7772n, maxLogsRange: 5000n },
    nodeAddress: addressFromHex(String(coinbase.response.result)),
    nextBaseFeePerGas: () => (isFirst ? undefined : 0n),
    network: {
      peerToPeer: { isListening: true, peerCount: 3, enode: "enode://free" },
      ethVersion: 68,
      services: () => ({
        jsonrpc: endpoint(services.jsonrpc),
        ws: endpoint(services.ws),
        p2p: endpoint(services.p2p),
      }),
    },
  });
}

function readCases(network: string): RecordedCase[] {
  const folder = vectorPath("besu-ibft", network, "rpc");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".json") || file.endsWith(".json.gz"))
    .sort()
    .map((file) => ({ ...readCase(`${folder}/${file}`), name: file.replace(/\.json(\.gz)?$/, "") }));
}

function readCase(path: string): Omit<RecordedCase, "name"> {
  const bytes = readFileSync(path);
  return JSON.parse((path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8")) as Omit<
    RecordedCase,
    "name"
  >;
}
