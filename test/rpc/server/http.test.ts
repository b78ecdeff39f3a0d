import { once } from "node:events";
import { readdirSync } from "node:fs";
import net from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { type LogFields, silentLogger } from "../../../src/observability/logger.ts";
import { prettyJson } from "../../../src/rpc/results/prettyJson.ts";
import { CallerTime } from "../../../src/rpc/server/callerTime.ts";
import { readiness } from "../../../src/rpc/server/health.ts";
import { openHttpServer } from "../../../src/rpc/server/http.ts";
import { CLOSING_LIMIT_MS, SLOW_READER_MS } from "../../../src/rpc/server/limits.ts";
import type { RpcServer } from "../../../src/rpc/server/server.ts";
import { shareTotals } from "../../../src/rpc/server/sharedTotals.ts";
import { settling, takeTimeouts } from "../../builders/handTimeouts.ts";
import { MORE_THAN_KERNELS_TAKE } from "../../kernelBuffers.ts";
import { itIfThorough } from "../../thorough.ts";
import { describeWithVectors, readVectorJson, vectorPath } from "../../vectors.ts";
import { withoutProblems } from "../problems.ts";
import { aToyDispatcher, type ToyBackend } from "../toyMethods.ts";
import { anHttpServer, ask, HTTP_DEFAULTS, HTTP_PARTS, type HttpRequest, sendRaw } from "./servers.ts";

const CHAIN_ID = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';
const CHAIN_ID_ANSWER = '{"jsonrpc":"2.0","id":1,"result":"0x1c03"}';

function errorText(code: number, message: string, id = "null", data?: string): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message, data })}}`;
}

const PARSE_ERROR = errorText(-32700, "Parse error");
const INVALID_REQUEST = errorText(-32600, "Invalid Request");

async function aToyServer(
  ...options: Parameters<typeof anHttpServer> extends [unknown, ...infer Rest] ? Rest : never
) {
  const { dispatcher, backend } = aToyDispatcher();
  return { server: await anHttpServer(dispatcher, ...options), backend };
}

interface Recorded {
  readonly case: string;
  readonly request?: unknown;
  readonly request_raw?: string;
  readonly request_raw_how?: string;
  readonly request_headers?: Readonly<Record<string, string>>;
  readonly http_method?: string;
  readonly http_path?: string;
  readonly http_status: number;
  readonly response_headers?: Readonly<Record<string, string>>;
  readonly response?: unknown;
  readonly response_text?: string;
}

describeWithVectors("the answers of a live Besu node over HTTP", () => {
  const recorded = ["net1/rpc/transport", "net3/rpc/cors"].flatMap((folder) =>
    readdirSync(vectorPath("besu-ibft", folder)).map((file) => `${folder}/${file}`),
  );

  it.each(recorded)("%s", async (file) => {
    const vector = readVectorJson<Recorded>("besu-ibft", file);
    const isOpen = file.includes("/cors/");
    const { server } = await aToyServer({
      corsOrigins: isOpen ? ["http://example\\.com"] : [],
      hostAllowlist: isOpen ? ["127.0.0.1", "foo.example"] : ["127.0.0.1", "localhost"],
    });
    const body = bodyOf(vector);
    const answer = await ask(server, {
      method: vector.http_method ?? "POST",
      path: vector.http_path ?? "/",
      ...(vector.request_headers !== undefined && { headers: vector.request_headers }),
      body,
    });
    expect(answer.status).toBe(vector.http_status);
    if (vector.response_text !== undefined && vector.response === undefined) {
      expect(answer.body).toBe(vector.response_text);
    } else if (vector.response !== undefined && !isOpen) {
      expect(JSON.parse(withoutProblems(answer.body))).toEqual(vector.response);
    }
    expect(withoutLength(answer.headers)).toEqual(
      withoutLength(vector.response_headers ?? { vary: "origin", "content-type": "application/json" }),
    );
  });

  function withoutLength(headers: object): object {
    const { "content-length": _, "transfer-encoding": __, ...others } = headers as Record<string, string>;
    return others;
  }

  function bodyOf(vector: Recorded): string {
    if (vector.request_raw !== undefined) return vector.request_raw;
    if (vector.request !== undefined) return JSON.stringify(vector.request);
    if (vector.case.endsWith("too-large-body")) {
      return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x", params: [`0x${"0".repeat(6_000_000)}`] });
    }
    const count = Number(/batch-([0-9]+)$/.exec(vector.case)?.[1] ?? 0);
    const requests = Array.from({ length: count }, (_, id) => ({
      jsonrpc: "2.0",
      id,
      method: "eth_chainId",
      params: [],
    }));
    return count === 0 ? "" : JSON.stringify(requests);
  }
});

describe("a single request", () => {
  itIfThorough("counts as its sender's time, however little each of many takes", async () => {
    let nowMs = 0;
    const callerTime = new CallerTime(() => {
      nowMs += 0.1;
      return nowMs;
    });
    const { server } = await aToyServer({}, { callerTime });
    for (let n = 0; n < 500; n++) expect((await ask(server, { body: "5" })).body).toBe(PARSE_ERROR);
    expect(callerTime.isFree("127.0.0.1")).toBe(false);
    expect(callerTime.isFree("127.0.0.2")).toBe(true);
  });

  const cases: readonly (readonly [name: string, body: string, status: number, answer: string])[] = [
    ["no body", "", 400, PARSE_ERROR],
    ["a blank body", "  \n", 400, PARSE_ERROR],
    ["a JSON string", '"text"', 400, PARSE_ERROR],
    ["a JSON number", "5", 400, PARSE_ERROR],
    ["null", "null", 400, PARSE_ERROR],
    ["bare text", "text", 400, PARSE_ERROR],
    ["an incomplete object", "{bla", 400, PARSE_ERROR],
    ["two objects in a row", CHAIN_ID + CHAIN_ID, 400, PARSE_ERROR],
    ["a byte order mark", `\ufeff${CHAIN_ID}`, 400, PARSE_ERROR],
    ["an empty object", "{}", 400, INVALID_REQUEST],
    ["only a version", '{"jsonrpc":"2.0"}', 400, INVALID_REQUEST],
    ["an object for an id", '{"id":{},"method":"eth_chainId"}', 400, INVALID_REQUEST],
    ["a boolean for an id", '{"id":true,"method":"eth_chainId"}', 400, INVALID_REQUEST],
    [
      "an object of params",
      '{"id":7,"method":"eth_chainId","params":{}}',
      400,
      errorText(-32600, "Invalid Request", "7"),
    ],
    ["params that are a number", '{"id":"a","method":"eth_chainId","params":1}', 400, INVALID_REQUEST],
    ["no method and a fractional id", '{"id":1.5}', 400, INVALID_REQUEST],
    [
      "no method and an id of thirty digits",
      '{"id":123456789012345678901234567890}',
      400,
      errorText(-32600, "Invalid Request", "123456789012345678901234567890"),
    ],
    [
      "a list for a method",
      '{"id":1,"method":["eth_chainId"]}',
      400,
      errorText(-32600, "Invalid Request", "1"),
    ],
    ["a boolean for a method", '{"id":1,"method":true}', 200, errorText(-32601, "Method not found", "1")],
    [
      "a fractional id",
      '{"id":1.50,"method":"eth_chainId"}',
      200,
      '{"jsonrpc":"2.0","id":1.50,"result":"0x1c03"}',
    ],
    [
      "an id with an escaped name, twice",
      '{"\\u0069d":9e999,"x":{"id":1},"id":-12345678901234567890,"method":"eth_chainId"}',
      200,
      '{"jsonrpc":"2.0","id":-12345678901234567890,"result":"0x1c03"}',
    ],
    [
      "an id with odd letters",
      '{"id":"\\ud800\\"\\n☃","method":"eth_chainId"}',
      200,
      '{"jsonrpc":"2.0","id":"\\ud800\\"\\n☃","result":"0x1c03"}',
    ],
    [
      "a missing parameter",
      '{"id":1,"method":"eth_getBalance","params":["a"]}',
      200,
      errorText(-32602, "Invalid params", "1"),
    ],
    [
      "a null for a parameter",
      '{"id":1,"method":"eth_getBalance","params":["a",null]}',
      200,
      errorText(-32602, "Invalid params", "1"),
    ],
    [
      "surplus parameters",
      '{"id":1,"method":"eth_getBalance","params":["a","b",3]}',
      200,
      '{"jsonrpc":"2.0","id":1,"result":"a at b"}',
    ],
    [
      "surplus parameters of an exact method",
      '{"id":1,"method":"toy_send","params":["a","b"]}',
      200,
      errorText(-32602, "Invalid params", "1"),
    ],
    [
      "an optional parameter that is null",
      '{"id":1,"method":"toy_optional","params":[null]}',
      200,
      '{"jsonrpc":"2.0","id":1,"result":"no word"}',
    ],
    [
      "an optional parameter that does not decode",
      '{"id":1,"method":"toy_optional","params":[1]}',
      200,
      errorText(-32602, "Invalid params", "1"),
    ],
    [
      "a method that answers later",
      '{"id":1,"method":"toy_later"}',
      200,
      '{"jsonrpc":"2.0","id":1,"result":"later"}',
    ],
    [
      "a method that answers JSON text",
      '{"id":1,"method":"toy_raw"}',
      200,
      '{"jsonrpc":"2.0","id":1,"result":{"a":[1,{"b":[]}]}}',
    ],
    [
      "a method that finds nothing",
      '{"id":1,"method":"toy_null"}',
      200,
      '{"jsonrpc":"2.0","id":1,"result":null}',
    ],
    [
      "a method that refuses",
      '{"id":1,"method":"toy_refuses"}',
      200,
      errorText(-32000, "Block not found", "1"),
    ],
    [
      "a method that finds the request invalid",
      '{"id":1,"method":"toy_invalid"}',
      400,
      errorText(-32600, "Invalid Request", "1"),
    ],
    ["a method that throws", '{"id":1,"method":"toy_throws"}', 200, errorText(-32603, "Internal error", "1")],
    [
      "a method that rejects",
      '{"id":1,"method":"toy_rejects"}',
      200,
      errorText(-32603, "Internal error", "1"),
    ],
    [
      "a result that cannot be JSON",
      '{"id":1,"method":"toy_unserializable"}',
      200,
      errorText(-32603, "Internal error", "1"),
    ],
    [
      "a method of a module that is off",
      '{"id":1,"method":"debug_traceCall"}',
      200,
      errorText(-32604, "Method not enabled", "1"),
    ],
    [
      "a subscription",
      '{"id":1,"method":"eth_subscribe","params":["newHeads"]}',
      200,
      errorText(-32604, "Method not enabled", "1"),
    ],
    [
      "the one method missing in Besu's list",
      '{"id":1,"method":"debug_accountRange"}',
      200,
      errorText(-32601, "Method not found", "1"),
    ],
    [
      "a name every object has",
      '{"id":1,"method":"constructor"}',
      200,
      errorText(-32601, "Method not found", "1"),
    ],
    [
      "a prototype for a method",
      '{"id":1,"__proto__":{"method":"eth_chainId"}}',
      400,
      errorText(-32600, "Invalid Request", "1"),
    ],
  ];

  it.each(cases)("%s", async (_name, body, status, expected) => {
    const { server } = await aToyServer();
    const answer = await ask(server, { body });
    expect({ status: answer.status, body: withoutProblems(answer.body) }).toEqual({ status, body: expected });
  });

  it("is not executed without an id", async () => {
    const { server, backend } = await aToyServer();
    const answer = await ask(server, { body: '{"jsonrpc":"2.0","method":"eth_chainId"}' });
    expect(answer).toMatchObject({ status: 200, body: "", headers: { "content-type": "application/json" } });
    expect(backend.calls).toEqual([]);
  });

  const refused = {
    status: 200,
    body: errorText(-32602, "Invalid params", "1", "parameter 1 (word) is invalid"),
  };
  const broken = { status: 400, body: PARSE_ERROR };

  it("may be nested up to 1,000 levels deep", async () => {
    const { server } = await aToyServer();
    const nested = (depth: number, texts: string) =>
      `{"x":${texts},"id":1,"method":"toy_optional","params":[${"[".repeat(depth)}${"]".repeat(depth)}]}`;
    const texts = JSON.stringify(['"'.repeat(2000), "[".repeat(2000), "\\", "{"]);
    expect(await ask(server, { body: nested(998, texts) })).toMatchObject(refused);
    expect(await ask(server, { body: nested(999, texts) })).toMatchObject(broken);
    expect(await ask(server, { body: nested(100_000, "0") })).toMatchObject(broken);
  });

  itIfThorough("may have up to 200,000 members in its objects", async () => {
    const { server } = await aToyServer();
    const withMembers = (count: number) =>
      `{"id":1,"method":"toy_optional","params":[{${Array.from({ length: count }, (_, index) => `"${index}a":0`)}}]}`;
    expect(await ask(server, { body: withMembers(199_990) })).toMatchObject(refused);
    const tooMany = errorText(-32005, "The message has more than 200,000 lists, objects and members");
    expect(await ask(server, { body: withMembers(200_000) })).toMatchObject({ status: 200, body: tooMany });
  });

  it("gets a pretty-printed answer with unchanged digits when the option is set", async () => {
    const { server } = await aToyServer({ isPrettyPrinted: true });
    const id = "123456789012345678901234567890";
    expect((await ask(server, { body: `{"id":${id},"method":"toy_raw"}` })).body).toBe(
      `{\n  "jsonrpc" : "2.0",\n  "id" : ${id},\n  "result" : {\n    "a" : [ 1, {\n      "b" : [ ]\n    } ]\n  }\n}`,
    );
    expect((await ask(server, { body: `[${CHAIN_ID}]` })).body).toBe(`[${CHAIN_ID_ANSWER}]`);
  });

  it("gets a large pretty-printed answer in parts", async () => {
    const [plain, pretty] = [await aToyServer(), await aToyServer({ isPrettyPrinted: true })];
    for (const method of ["toy_pieces", "toy_large"]) {
      const request = { body: `{"id":1,"method":"${method}"}` };
      const { body } = await ask(plain.server, request);
      const answer = await ask(pretty.server, request);
      expect(answer.body === prettyJson(body), method).toBe(true);
      expect(answer.headers).toMatchObject({
        "content-type": "application/json",
        "transfer-encoding": "chunked",
      });
    }
  });
});

describe("a batch", () => {
  it("is refused without being executed when it is too large", async () => {
    const { server, backend } = await aToyServer({ maxBatchSize: 2 });
    expect((await ask(server, { body: `[${CHAIN_ID},${CHAIN_ID},${CHAIN_ID}]` })).body).toBe(
      errorText(-32005, "Number of requests exceeds max batch size"),
    );
    expect(backend.calls).toEqual([]);
  });

  it("has no limit where none is set", async () => {
    const { server } = await aToyServer({ maxBatchSize: undefined });
    const answer = await ask(server, { body: `[${Array(2000).fill(CHAIN_ID).join(",")}]` });
    expect(JSON.parse(answer.body)).toHaveLength(2000);
  });

  it("gives every element its own answer and id, in order", async () => {
    const { server } = await aToyServer();
    const body =
      '[{"id":1.25,"method":"toy_later"},{"id":12345678901234567890,"method":"toy_throws"},[],' +
      '{"method":"eth_chainId"},{"id":"x","method":"toy_raw"},{"id":98765432109876543210}]';
    expect((await ask(server, { body })).body).toBe(
      `[{"jsonrpc":"2.0","id":1.25,"result":"later"},${errorText(-32603, "Internal error", "12345678901234567890")},` +
        `${INVALID_REQUEST},{"jsonrpc":"2.0","id":"x","result":{"a":[1,{"b":[]}]}},` +
        `${errorText(-32600, "Invalid Request", "98765432109876543210")}]`,
    );
  });

  it("runs requests in order, and adjacent ones concurrently when their methods allow it", async () => {
    const { server, backend } = await aToyServer();
    const hold = (label: string) => `{"id":"${label}","method":"toy_hold","params":["${label}"]}`;
    const answer = ask(server, { body: `[${hold("a")},${hold("b")},${CHAIN_ID},${hold("c")}]` });
    await expect.poll(() => backend.calls).toEqual(["a", "b"]);
    backend.held[1]?.("second");
    backend.held[0]?.("first");
    await expect.poll(() => backend.calls).toEqual(["a", "b", "eth_chainId", "c"]);
    backend.held[2]?.("third");
    expect(JSON.parse((await answer).body).map((each: { result: string }) => each.result)).toEqual([
      "first",
      "second",
      "0x1c03",
      "third",
    ]);
  });

  it("contains the same answers when they come in pieces", async () => {
    const { server } = await aToyServer();
    const answer = await ask(server, { body: '{"id":1,"method":"toy_pieces"}' });
    const body = `{"jsonrpc":"2.0","id":1,"result":["${"é".repeat(2_000_000)}"]}`;
    expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength(body)));
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(answer.body === body).toBe(true);
    const batch = await ask(server, { body: `[${CHAIN_ID},{"id":1,"method":"toy_pieces"},${CHAIN_ID}]` });
    expect(batch.body === `[${CHAIN_ID_ANSWER},${body},${CHAIN_ID_ANSWER}]`).toBe(true);
  });

  it("contains a large answer of any characters completely when it is one text", async () => {
    const { server } = await aToyServer();
    const answer = await ask(server, { body: '{"id":1,"method":"toy_large"}' });
    const body = `{"jsonrpc":"2.0","id":1,"result":"${"x€😀".repeat(300_000)}"}`;
    expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength(body)));
    expect(answer.body === body).toBe(true);
    const batch = await ask(server, { body: `[${CHAIN_ID},{"id":1,"method":"toy_large"}]` });
    expect(batch.body === `[${CHAIN_ID_ANSWER},${body}]`).toBe(true);
  });

  it("is sent in pieces when its answer is large", async () => {
    const { server } = await aToyServer();
    const big = '{"id":1,"method":"toy_big","params":[300000]}';
    const answer = await ask(server, { body: `[${Array(20).fill(big).join(",")}]` });
    expect(answer.headers["transfer-encoding"]).toBe("chunked");
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(answer.body)).toHaveLength(20);
  });

  it("is abandoned when its client disconnects", async () => {
    const { server, backend } = await aToyServer();
    const body = `[{"id":1,"method":"toy_hold"},${CHAIN_ID}]`;
    const socket = net.connect(server.port, "127.0.0.1");
    socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    await expect.poll(() => backend.held.length).toBe(1);
    socket.destroy();
    // The server has seen the end of that connection once it answers on a later one.
    await ask(server, { method: "GET" });
    backend.held[0]?.("too late");
    await ask(server, { method: "GET" });
    expect(backend.calls).toEqual(["toy_hold"]);
  });
});

describe("the routes", () => {
  const cases: readonly (readonly [name: string, request: HttpRequest, answer: object])[] = [
    [
      "the root is a probe",
      { method: "GET" },
      { status: 201, body: "", headers: { vary: "origin", "content-length": "0" } },
    ],
    [
      "a query does not hide the root",
      { path: "/?a=b", body: CHAIN_ID },
      { status: 200, body: CHAIN_ID_ANSWER },
    ],
    ["liveness", { method: "GET", path: "/liveness" }, { status: 200, body: '{\n  "status" : "UP"\n}' }],
    [
      "no log-in without authentication",
      { path: "/login", body: "{}" },
      { status: 400, reason: "Authentication not enabled", body: "" },
    ],
    ["an unknown path", { path: "/rpc", body: CHAIN_ID }, { status: 404 }],
    ["an invalid path", { method: "GET", path: "/%zz" }, { status: 404 }],
    [
      "a known path by another method",
      { method: "POST", path: "/liveness" },
      { status: 405, headers: { vary: "origin", allow: "GET", "content-length": "0" }, body: "" },
    ],
    [
      "an unusual method",
      { method: "PROPFIND" },
      { status: 405, headers: { vary: "origin", allow: "POST,GET", "content-length": "0" } },
    ],
    ["HEAD", { method: "HEAD" }, { status: 405, body: "" }],
    ["options without a preflight", { method: "OPTIONS" }, { status: 405 }],
    [
      "a client that does not accept JSON",
      { headers: { accept: "text/html" }, body: CHAIN_ID },
      { status: 406, body: "" },
    ],
    [
      "a client that refuses JSON",
      { headers: { accept: "application/json;q=0" }, body: CHAIN_ID },
      { status: 406 },
    ],
    [
      "a client that accepts any application type",
      { headers: { accept: "text/html, Application/*;q=0.5" }, body: CHAIN_ID },
      { status: 200 },
    ],
    [
      "an invalid content type",
      { headers: { "content-type": ";;" }, body: CHAIN_ID },
      { status: 200, body: CHAIN_ID_ANSWER },
    ],
    [
      "an upgrade that is not offered",
      { headers: { connection: "upgrade", upgrade: "h2c" }, body: CHAIN_ID },
      { status: 200 },
    ],
  ];

  it.each(cases)("%s", async (_name, request, expected) => {
    const { server } = await aToyServer();
    expect(await ask(server, request)).toMatchObject(expected);
  });
});

describe("readiness", () => {
  const far = { currentBlock: 100n, highestBlock: 110n };
  const cases = [
    ["enough peers, in sync", "", { peers: 1, sync: undefined }, []],
    ["no peers", "", { peers: 0, sync: undefined }, ["0 peers, minPeers is 1"]],
    ["no peers wanted", "?minPeers=0", { peers: 0, sync: undefined }, []],
    ["peer-to-peer networking off", "?minPeers=9", { peers: undefined, sync: undefined }, []],
    ["far behind", "", { peers: 1, sync: far }, ["10 blocks behind #110, maxBlocksBehind is 2"]],
    ["as far behind as allowed", "?maxBlocksBehind=10", { peers: 1, sync: far }, []],
    [
      "a parameter that is not a number",
      "?minPeers=one",
      { peers: 1, sync: undefined },
      ["minPeers is not a number"],
    ],
    [
      "an empty parameter, and too few peers",
      "?maxBlocksBehind=&minPeers=3",
      { peers: 1, sync: undefined },
      ["maxBlocksBehind is not a number", "1 peers, minPeers is 3"],
    ],
    ["a head as old as allowed", "?maxHeadAgeSeconds=90", { peers: 1, sync: undefined }, []],
    [
      "an old head",
      "?maxHeadAgeSeconds=5",
      { peers: 1, sync: undefined },
      ["the newest block is 90 s old, maxHeadAgeSeconds is 5"],
    ],
  ] as const;

  it.each(cases)("%s", async (_name, query, { peers, sync }, reasons) => {
    const { server } = await aToyServer(
      {},
      {
        readiness: (query) =>
          readiness(query, {
            peerCount: () => peers,
            diskPauseEndsAtBytes: () => undefined,
            syncStatus: () => sync,
            isCompared: () => true,
            headAgeSeconds: () => 90,
          }),
      },
    );
    const answer = await ask(server, { method: "GET", path: `/readiness${query}` });
    expect(answer).toMatchObject({
      status: reasons.length === 0 ? 200 : 503,
      body:
        reasons.length === 0
          ? `{\n  "status" : "UP"\n}`
          : `{\n  "status" : "DOWN",\n  "reasons" : [ ${reasons.map((reason) => `"${reason}"`).join(", ")} ]\n}`,
    });
  });

  it("peers whose height is not known yet, where there are peers", () => {
    const objectionsWith = (
      peers: number | undefined,
      sync?: { currentBlock: bigint; highestBlock: bigint },
    ) =>
      readiness(new URLSearchParams("minPeers=0"), {
        peerCount: () => peers,
        diskPauseEndsAtBytes: () => undefined,
        syncStatus: () => sync,
        isCompared: () => false,
        headAgeSeconds: () => 1,
      });
    expect(objectionsWith(1)).toEqual(["it is not known yet how many blocks the peers have"]);
    expect(objectionsWith(1, { currentBlock: 9n, highestBlock: 10n })).toEqual([]);
    expect(objectionsWith(0)).toEqual([]);
    expect(objectionsWith(undefined)).toEqual([]);
  });

  it("block production paused", async () => {
    const health = {
      peerCount: () => 1,
      diskPauseEndsAtBytes: () => 640 * 1024 ** 2,
      syncStatus: () => undefined,
      isCompared: () => true,
      headAgeSeconds: () => 1,
    };
    const { server } = await aToyServer({}, { readiness: (query) => readiness(query, health) });
    expect(await ask(server, { method: "GET", path: "/readiness" })).toMatchObject({
      status: 503,
      body: expect.stringContaining(
        "the disk is almost full, so no blocks are made until 671088640 bytes (640 MB) are free",
      ),
    });
  });
});

describe("the host allow-list", () => {
  const cases = [
    ["ports do not matter", "Host: LOCALHOST:1\r\n", ["localhost"], 200],
    ["another name is refused", "Host: evil.example\r\n", ["localhost"], 403],
    ["a subdomain is another name", "Host: a.localhost\r\n", ["localhost"], 403],
    ["no Host is refused", "", ["localhost"], 403],
    ["an empty Host is refused", "Host: \r\n", ["localhost"], 403],
    ["no Host is allowed with *", "", ["*"], 200],
    ["an empty list allows no host", "Host: localhost\r\n", [], 403],
    ["an invalid port", "Host: localhost:http\r\n", ["localhost"], 400],
    ["a port out of range", "Host: localhost:65536\r\n", ["localhost"], 400],
    ["two colons", "Host: localhost:1:2\r\n", ["localhost"], 400],
    ["an IPv6 address", "Host: [::1]:8545\r\n", ["::1"], 200],
  ] as const;

  it.each(cases)("%s", async (_name, header, hostAllowlist, status) => {
    const { server } = await aToyServer({ hostAllowlist });
    const answer = await sendRaw(
      server,
      `POST / HTTP/1.1\r\n${header}Connection: close\r\nContent-Length: ${CHAIN_ID.length}\r\n\r\n${CHAIN_ID}`,
    );
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    if (status === 403) expect(answer).toContain('\r\n\r\n{"message":"Host not authorized."}');
    expect(/vary: origin/i.test(answer)).toBe(status === 200);
  });

  it("also guards health and unknown paths", async () => {
    const { server } = await aToyServer();
    for (const path of ["/liveness", "/nosuch", "/login", "/%zz"]) {
      expect((await ask(server, { method: "GET", path, headers: { host: "evil.example" } })).status).toBe(
        403,
      );
    }
  });
});

describe("the target of a request", () => {
  const cases = [
    ["GET", "/liveness", 200],
    ["GET", "/liveness?a=%zz", 200],
    ["GET", "/liveness#part", 200],
    ["GET", "/%6civeness", 200],
    ["GET", "http://node.example/liveness", 200],
    ["GET", "HTTPS://node.example:8545/liveness?a", 200],
    ["GET", "http://node.example?a", 201],
    ["GET", "/liveness/", 404],
    ["GET", "//liveness", 404],
    ["GET", "/Liveness", 404],
    ["GET", "/%2fliveness", 404],
    ["GET", "/%zz", 404],
    ["HEAD", "/", 405],
    ["PROPFIND", "/", 405],
    ["OPTIONS", "*", 404],
  ] as const;

  it.each(cases)("%s %s", async (method, target, status) => {
    const { server } = await aToyServer();
    const answer = await sendRaw(
      server,
      `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });
});

describe("origins", () => {
  it("are echoed when any origin is allowed", async () => {
    const { server } = await aToyServer({ corsOrigins: ["*"] });
    const answer = await ask(server, { headers: { origin: "http://a.example" }, body: CHAIN_ID });
    expect(answer.headers).toEqual({
      "access-control-allow-origin": "http://a.example",
      "content-type": "application/json",
      vary: "origin",
      "content-length": String(CHAIN_ID_ANSWER.length),
    });
  });

  it("must match an expression as a whole", async () => {
    const { server } = await aToyServer({ corsOrigins: ["http://a.example", "https://.*\\.b\\.example"] });
    const statusFor = async (origin: string) =>
      (await ask(server, { headers: { origin }, body: CHAIN_ID })).status;
    expect(await statusFor("http://a.example")).toBe(200);
    expect(await statusFor("https://x.b.example")).toBe(200);
    expect(await statusFor("http://a.example.evil")).toBe(403);
    expect(await statusFor("https://b.example")).toBe(403);
  });

  it("are refused everywhere, not only on preflights", async () => {
    const { server } = await aToyServer();
    const answer = await ask(server, { method: "GET", path: "/liveness", headers: { origin: "null" } });
    expect(answer).toMatchObject({ status: 403, body: "Exception thrown handling RPC" });
    expect(answer.headers).toEqual({ "content-length": "29" });
  });
});

describe("limits", () => {
  it("refuse a body that is too large, with or without Content-Length, and keep the server open", async () => {
    const { server } = await aToyServer({ maxBodyBytes: 1000 });
    const large = "x".repeat(1001);
    for (const headers of [{}, { "transfer-encoding": "chunked" }]) {
      expect(await ask(server, { headers, body: large })).toMatchObject({
        status: 413,
        body: "Request Entity Too Large",
      });
    }
    const most = CHAIN_ID + " ".repeat(1000 - CHAIN_ID.length);
    expect((await ask(server, { body: most })).body).toBe(CHAIN_ID_ANSWER);
  });

  it("close a connection above the limit silently while all others are being answered", async () => {
    const { server, backend } = await aToyServer({ maxConnections: 2 });
    const hold = '{"id":1,"method":"toy_hold"}';
    const connect = () => {
      const socket = net.connect(server.port, "127.0.0.1");
      onTestFinished(() => void socket.destroy());
      socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${hold.length}\r\n\r\n${hold}`);
      return socket;
    };
    const [first] = [connect(), connect()];
    await expect.poll(() => backend.held.length).toBe(2);
    expect(await sendRaw(server, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")).toBe("");
    first?.destroy();
    await expect
      .poll(() => sendRaw(server, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
      .toMatch(/^HTTP\/1.1 201 /);
  });

  it("answer 504 after the timeout, and close the connection", async () => {
    const { server, backend } = await aToyServer({ timeoutMs: 20 });
    const body = '{"id":1,"method":"toy_hold"}';
    for (const each of [body, `[${body}]`]) {
      const answer = await sendRaw(
        server,
        `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${each.length}\r\n\r\n${each}`,
      );
      expect(answer).toMatch(/^HTTP\/1.1 504 .*\r\nContent-Length: 0\r\nConnection: close\r\n\r\n$/s);
    }
    for (const release of backend.held) release("too late");
    // On a busy machine an answer may take longer than this server waits.
    await expect.poll(async () => (await ask(server, { body: CHAIN_ID })).body).toBe(CHAIN_ID_ANSWER);
  });

  it("close a connection after the answer to a request that came while the server closes", async () => {
    const { server, backend } = await aToyServer();
    const client = net.connect(server.port, server.host);
    let answers = "";
    client.on("data", (chunk: Buffer) => {
      answers += chunk.toString("latin1");
    });
    const post = (body: string): void =>
      void client.write(
        `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    post('{"id":1,"method":"toy_hold"}');
    await expect.poll(() => backend.held.length).toBe(1);
    const closed = Promise.all([server.close(), once(client, "close")]);
    post(CHAIN_ID);
    // The request reaches the server in one of these cycles.
    for (let n = 0; n < 100; n++) await new Promise((resolve) => setImmediate(resolve));
    backend.held[0]?.("held");
    await closed;
    const [first = "", second = ""] = answers.split("HTTP/1.1 200 OK").slice(1);
    expect(first).not.toMatch(/Connection: close/i);
    expect(second).toMatch(/Connection: close/i);
    expect(second.endsWith(CHAIN_ID_ANSWER)).toBe(true);
  });

  it("cut a connection that pipelines without end", async () => {
    const { server } = await aToyServer();
    const hold = '{"id":1,"method":"toy_hold"}';
    const one = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${hold.length}\r\n\r\n${hold}`;
    expect(await sendRaw(server, one.repeat(40))).toBe("");
  });

  const large = `{"id":1,"method":"toy_stream","params":[${MORE_THAN_KERNELS_TAKE}]}`;
  const streamed = `{"id":1,"method":"toy_stream","params":[${2 * MORE_THAN_KERNELS_TAKE}]}`;
  const posted = (body: string): string =>
    `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  it("make a large answer as it is read, and begin nothing more of the connection meanwhile", async () => {
    const { server, backend } = await aToyServer();
    const { calls } = backend;
    const client = net.connect(server.port, server.host);
    client.write(posted(streamed) + posted(CHAIN_ID));
    await once(client, "readable");
    // Each goes around the loop of the server several times, which would make more of the answer.
    for (let n = 0; n < 50; n++) await ask(server, { body: '{"id":1,"method":"net_version"}' });
    // And an empty one.
    const pieces = (2 * MORE_THAN_KERNELS_TAKE) / 2 ** 20 + 1;
    expect(calls.length).toBeLessThan(pieces);
    expect(calls).not.toContain("eth_chainId");
    const answers = await read(client, CHAIN_ID_ANSWER);
    expect(answers).toBeGreaterThan(2 * MORE_THAN_KERNELS_TAKE);
    expect(calls).toEqual([...Array(pieces).fill("piece"), "eth_chainId"]);
    client.destroy();
  });

  it("begin nothing more of a connection that ended", async () => {
    const { server, backend } = await aToyServer();
    const client = net.connect(server.port, server.host);
    client.write(posted('{"id":1,"method":"toy_hold"}') + posted(CHAIN_ID));
    await expect.poll(() => backend.held.length).toBe(1);
    client.destroy();
    await expect.poll(() => backend.contexts[0]?.isAbandoned()).toBe(true);
    backend.held[0]?.("late");
    await ask(server, { body: '{"id":1,"method":"net_version"}' });
    expect(backend.calls).not.toContain("eth_chainId");
  });

  it("reach a prompt reader also when one alone is more than a thread may hold", async () => {
    const totals = shareTotals(undefined, 0, { httpAnswers: 1024 * 1024 });
    const { dispatcher } = aToyDispatcher();
    const server = await anHttpServer(dispatcher, {}, { totals });
    const { body } = await ask(server, { body: large });
    expect(body.length).toBeGreaterThan(MORE_THAN_KERNELS_TAKE);
  });

  it("cut a client that reads nothing for a while, when a thread holds more than it may", async () => {
    const totals = shareTotals(undefined, 0, { httpAnswers: 1024 * 1024 });
    let nowMs = 0;
    const { dispatcher } = aToyDispatcher();
    const server = await anHttpServer(dispatcher, {}, { totals, nowMs: () => nowMs });
    const client = net.connect(server.port, server.host);
    const closed = new Promise<void>((resolve) => client.once("close", () => resolve()));
    client.on("error", () => undefined);
    client.write(posted(large));
    await once(client, "readable");
    await expect.poll(() => totals.httpAnswers.own).toBe(MORE_THAN_KERNELS_TAKE);
    const heldLater = (): number => {
      nowMs += SLOW_READER_MS;
      return totals.httpAnswers.own;
    };
    await expect.poll(heldLater).toBe(0);
    client.resume();
    await closed;
  });

  it.each([
    ["of single requests", large],
    ["of batches", `[${large}]`],
  ])(
    "bound the memory of unread answers %s by cutting the client that has read nothing for the longest",
    async (_, body) => {
      const warnings: LogFields[] = [];
      const logger = { ...silentLogger, warn: (fields: LogFields) => warnings.push(fields) };
      const unreadLimitBytes = 2.5 * MORE_THAN_KERNELS_TAKE;
      const { server, backend } = await aToyServer({ unreadLimitBytes }, { logger });
      const stalledClients: net.Socket[] = [];
      for (let n = 0; n < 2; n++) {
        const stalledClient = net.connect(server.port, server.host);
        stalledClients.push(stalledClient);
        stalledClient.write(
          `POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        );
        await once(stalledClient, "readable");
        await untilNothingIsMade(server, backend);
      }
      expect((await ask(server, { body })).body.length).toBeGreaterThan(MORE_THAN_KERNELS_TAKE);
      const [first = 0, second = 0] = await Promise.all(stalledClients.map(lengthOfRest));
      expect(first).toBeLessThan(MORE_THAN_KERNELS_TAKE);
      expect(second).toBeGreaterThan(MORE_THAN_KERNELS_TAKE);
      expect(warnings).toMatchObject([{ remote: "127.0.0.1" }]);
    },
  );

  it("allow a client to pipeline a few requests", async () => {
    const { server } = await aToyServer();
    const one = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${CHAIN_ID.length}\r\n\r\n${CHAIN_ID}`;
    const last = one.replace("Host", "Connection: close\r\nHost");
    const answers = await sendRaw(server, one.repeat(9) + last);
    expect(answers.split(CHAIN_ID_ANSWER)).toHaveLength(11);
  });
});

describe("invalid HTTP", () => {
  it.each([
    ["bytes", "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", "400"],
    ["a broken length", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", "400"],
    [
      "two lengths",
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "400",
    ],
    ["headers without end", `GET / HTTP/1.1\r\nHost: localhost\r\nA: ${"a".repeat(20_000)}\r\n\r\n`, "431"],
  ])("%s", async (_name, bytes, status) => {
    const { server } = await aToyServer();
    expect(await sendRaw(server, bytes)).toMatch(
      new RegExp(`^HTTP/1.1 ${status} .*\r\nConnection: close\r\n\r\n$`, "s"),
    );
    expect((await ask(server, { method: "GET" })).status).toBe(201);
  });
});

describe("opening and closing", () => {
  it("refuses a port that is in use", async () => {
    const { dispatcher } = aToyDispatcher();
    const server = await anHttpServer(dispatcher);
    const again = await openHttpServer(
      { ...HTTP_DEFAULTS, port: server.port },
      { ...HTTP_PARTS, dispatcher },
    );
    expect(again).toMatchObject({ ok: false, error: { code: "addressInUse", fault: "local" } });
  });

  it("refuses an address of another host", async () => {
    const { dispatcher } = aToyDispatcher();
    const opened = await openHttpServer(
      { ...HTTP_DEFAULTS, host: "192.0.2.1" },
      { ...HTTP_PARTS, dispatcher },
    );
    expect(opened).toMatchObject({ ok: false, error: { code: "cannotListen" } });
  });

  it("lets open requests finish, and closes idle connections", async () => {
    const { server, backend } = await aToyServer();
    const idle = net.connect(server.port, "127.0.0.1");
    await once(idle, "connect");
    const answer = ask(server, { body: '{"id":1,"method":"toy_hold"}' });
    await expect.poll(() => backend.held.length).toBe(1);
    // The time after which they would be cut does not pass.
    takeTimeouts();
    const closed = server.close();
    backend.held[0]?.("done");
    expect((await answer).body).toBe('{"jsonrpc":"2.0","id":1,"result":"done"}');
    await closed;
    await expect(ask(server, { method: "GET" })).rejects.toThrow(/ECONNREFUSED/);
  });

  it("cuts requests that do not finish within two seconds", async () => {
    const { server, backend } = await aToyServer();
    const answer = expect(ask(server, { body: '{"id":1,"method":"toy_hold"}' })).rejects.toThrow(
      /hang up|RESET/,
    );
    await expect.poll(() => backend.held.length).toBe(1);
    const timeouts = takeTimeouts();
    const closed = server.close();
    const closing = settling(closed);
    await timeouts.advanceBy(CLOSING_LIMIT_MS - 1);
    expect(closing.isSettled).toBe(false);
    await timeouts.advanceBy(1);
    await closed;
    await answer;
  });
});

/** Bytes that still arrive until the connection ends or is cut. */
/** Waits until no more of an answer was made while others went around the loop of the server many times. */
async function untilNothingIsMade(server: RpcServer, { calls }: Pick<ToyBackend, "calls">): Promise<void> {
  for (let made = -1; made !== calls.length; ) {
    made = calls.length;
    for (let n = 0; n < 20; n++) await ask(server, { body: '{"id":1,"method":"net_version"}' });
  }
}

/** Reads until the text comes, and returns how many bytes came. */
function read(socket: net.Socket, until: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let length = 0;
    socket.on("data", (bytes: Buffer) => {
      length += bytes.length;
      if (bytes.includes(until)) resolve(length);
    });
    socket.on("close", () => reject(new Error("the connection ended")));
  });
}

function lengthOfRest(socket: net.Socket): Promise<number> {
  return new Promise((resolve) => {
    let length = 0;
    socket.on("data", (bytes: Buffer) => {
      length += bytes.length;
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(length));
    socket.resume();
  });
}
