import { EventEmitter, once } from "node:events";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type LogFields, type Logger, silentLogger } from "../../src/observability/logger.ts";
import { type JsonPiece, joinPieces } from "../../src/primitives/jsonPieces.ts";
import { BATCH_PIECE_LENGTH } from "../../src/rpc/batch.ts";
import type { Caller } from "../../src/rpc/caller.ts";
import { ERRORS } from "../../src/rpc/errors/errors.ts";
import { DEVELOPMENT_METHODS, KNOWN_METHODS } from "../../src/rpc/knownMethods.ts";
import { METHODS } from "../../src/rpc/methods/registry.ts";
import { aCaller } from "../builders/aCaller.ts";
import { aToyDispatcher, TOY_METHODS } from "./toyMethods.ts";

function answer(
  { dispatcher }: ReturnType<typeof aToyDispatcher>,
  method: string,
  ...params: readonly unknown[]
): unknown {
  const request = { id: 1, method, params };
  const reply = dispatcher.answerRequest(request, JSON.stringify(request), aCaller);
  return reply instanceof Promise ? "a promise" : JSON.parse(reply?.text ?? "null");
}

describe("the table of methods", () => {
  it("offers the methods of its modules, under every name", () => {
    const server = aToyDispatcher({ modules: ["ETH"] });
    expect(answer(server, "eth_sendRawTransaction", "0x00")).toMatchObject({ result: "0x00" });
    expect(answer(server, "toy_send", "0x00")).toMatchObject({ result: "0x00" });
    expect(answer(server, "net_version")).toMatchObject({ error: { code: -32604 } });
    expect(answer(aToyDispatcher({ modules: ["NET"] }), "net_version")).toMatchObject({ result: "7171" });
  });

  it("refuses two methods with one name", () => {
    expect(() => aToyDispatcher({ methods: [...TOY_METHODS, ...TOY_METHODS.slice(0, 1)] })).toThrow(
      /eth_chainId/,
    );
  });

  it("knows every declared method, so that one whose module is off is not enabled instead of not found", () => {
    const names = METHODS.flatMap(({ name, aliases = [] }) => [name, ...aliases]).filter(
      (name) => !DEVELOPMENT_METHODS.includes(name),
    );
    // Besu's own table lacks this one.
    expect(names.filter((name) => !KNOWN_METHODS.has(name))).toEqual(["debug_accountRange"]);
    const server = aToyDispatcher({ methods: [] });
    for (const name of [
      ...names.filter((name) => name !== "debug_accountRange"),
      "clique_getSigners",
      "qbft_getPendingVotes",
      "priv_call",
      "eea_sendRawTransaction",
    ])
      expect(answer(server, name)).toEqual({
        jsonrpc: "2.0",
        id: 1,
        error: { code: -32604, message: "Method not enabled" },
      });
    for (const name of [...DEVELOPMENT_METHODS, "debug_accountRange", "eth_sign", "admin_", "", "toString"])
      expect(answer(server, name)).toMatchObject({ error: { code: -32601 } });
  });
});

describe("a method", () => {
  it("that answers synchronously costs no promise", () => {
    const server = aToyDispatcher();
    expect(answer(server, "eth_chainId")).toMatchObject({ result: "0x1c03" });
    expect(answer(server, "toy_throws")).toMatchObject({ error: { code: -32603 } });
    expect(answer(server, "toy_later")).toBe("a promise");
  });

  it("that fails is logged with its name, the id and the exception", async () => {
    const logged: LogFields[] = [];
    const often: Logger["often"] = (level, _message, fields) => {
      if (level === "error") logged.push(fields());
    };
    const server = aToyDispatcher({ logger: { ...silentLogger, often } });
    answer(server, "toy_throws");
    answer(server, "toy_unserializable");
    const request = '{"id":1,"method":"toy_rejects"}';
    await server.dispatcher.answerRequest(JSON.parse(request), request, aCaller);
    expect(logged.map(({ method }) => method)).toEqual(["toy_throws", "toy_unserializable", "toy_rejects"]);
    expect(logged.every(({ id, error }) => id === "1" && error instanceof Error)).toBe(true);
  });

  it("that returns an error gets that error answered", () => {
    expect(answer(aToyDispatcher(), "toy_refuses")).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: ERRORS.blockNotFound.code, message: "Block not found" },
    });
  });
});

describe("a batch", () => {
  const big = { id: 1, method: "toy_big", params: [BATCH_PIECE_LENGTH] };

  async function answerBatch(requests: readonly unknown[], caller: Caller) {
    const { dispatcher, backend } = aToyDispatcher();
    const pieces: JsonPiece[] = [];
    const rest = await dispatcher.answerBatch(requests, JSON.stringify(requests), caller, (piece) => {
      pieces.push(piece);
    });
    return { pieces, text: joinPieces([...pieces, rest]), calls: backend.calls.length };
  }

  it("is written in pieces that together are the answer", async () => {
    const { pieces, text } = await answerBatch([big, big, { id: 2, method: "eth_chainId" }], aCaller);
    expect(pieces).toHaveLength(2);
    expect((JSON.parse(text) as { id: number }[]).map(({ id }) => id)).toEqual([1, 1, 2]);
  });

  it("keeps only a few large answers unwritten, and continues when they are written", async () => {
    const { dispatcher, backend } = aToyDispatcher();
    const length = 1_000_000;
    const requests = Array.from({ length: 20 }, (_, id) => ({ id, method: "toy_output", params: [length] }));
    const pieces: JsonPiece[] = [];
    const inFlight: number[] = [];
    const reader = new EventEmitter();
    const isReady = once(reader, "ready");
    const write = async (piece: JsonPiece): Promise<void> => {
      pieces.push(piece);
      await isReady;
    };
    const rest = dispatcher.answerBatch(requests, JSON.stringify(requests), aCaller, write, (each) =>
      inFlight.push(each),
    );
    await yieldToEventLoop();
    const { length: begun } = backend.calls;
    expect(begun).toBeGreaterThan(1);
    expect(begun).toBeLessThanOrEqual(8);
    expect(inFlight.at(-1)).toBeGreaterThanOrEqual(begun * length);
    reader.emit("ready");
    pieces.push(await rest);
    const answers = JSON.parse(joinPieces(pieces)) as { id: number }[];
    expect(answers.map(({ id }) => id)).toEqual(requests.map(({ id }) => id));
    expect(inFlight.at(-1)).toBe(0);
    expect(Math.max(...inFlight)).toBeLessThan(9 * (length + 100));
  });

  it("stops when the caller no longer waits for it", async () => {
    let checks = 0;
    const { calls } = await answerBatch(Array(10).fill(big), {
      ...aCaller,
      isAbandoned: () => ++checks > 3,
    });
    expect(calls).toBe(3);
  });

  it("yields to the event loop between slow requests", async () => {
    let yields = 0;
    const count = () => {
      yields++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    await answerBatch(Array(20).fill({ id: 1, method: "toy_slow" }), aCaller);
    clearImmediate(timer);
    expect(yields).toBeGreaterThan(10);
  });
});
