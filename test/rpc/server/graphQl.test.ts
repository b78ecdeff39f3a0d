import { once } from "node:events";
import { readdirSync } from "node:fs";
import net from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { silentLogger } from "../../../src/observability/logger.ts";
import type { Gate } from "../../../src/rpc/access/gate.ts";
import { grantOpenMethods, grantPermissions } from "../../../src/rpc/access/grant.ts";
import type { GraphQlAnswer, GraphQlRequest } from "../../../src/rpc/graphql/request.ts";
import type { GraphQlParts, GraphQlSettings } from "../../../src/rpc/server/graphQl.ts";
import { InFlightResponses } from "../../../src/rpc/server/inFlightResponses.ts";
import type { RpcServer } from "../../../src/rpc/server/server.ts";
import { shareTotals } from "../../../src/rpc/server/sharedTotals.ts";
import { MORE_THAN_KERNELS_TAKE } from "../../kernelBuffers.ts";
import { describeWithVectors, readVectorJson, vectorPath } from "../../vectors.ts";
import { aGraphQlServer, ask, type HttpRequest, sendRaw } from "./servers.ts";

const JSON_TYPE = { "content-type": "application/json" };
const ANSWER = '{\n  "data" : {\n    "chainID" : "0x1"\n  }\n}';

/** A server that answers every request alike, and the requests that it was asked. */
async function aToyServer(settings: Partial<GraphQlSettings> = {}, parts: Partial<GraphQlParts> = {}) {
  const asked: GraphQlRequest[] = [];
  const answer = async (request: GraphQlRequest): Promise<GraphQlAnswer> => {
    asked.push(request);
    return { status: 200, body: [ANSWER] };
  };
  return { server: await aGraphQlServer(answer, settings, parts), asked };
}

const CHAIN_ID: GraphQlRequest = { query: "{chainID}", operationName: undefined, variables: {} };

interface Recorded {
  readonly name: string;
  readonly request: { method: string; path: string; headers: Record<string, string>; body?: string };
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly responseText: string;
}

/** Besu's own faults, and what is in its words alone (differences-from-besu.md#requests-over-http). */
const DIFFERENT: Readonly<Record<string, { readonly status: number; readonly body?: string }>> = {
  "content type bad": { status: 400, body: "the Content-Type is not a media type" },
  "JSON null": { status: 400, body: "the body is not an object" },
  "bad JSON": { status: 400, body: "the body is not JSON, or too deep" },
  "JSON array (batch)": { status: 400, body: "the body is not an object" },
  "JSON string": { status: 400, body: "the body is not an object" },
  "empty body": { status: 400, body: "the body is not JSON, or too deep" },
  "variables string": { status: 400, body: "variables are not a JSON object" },
  "variables array": { status: 400, body: "variables are not a JSON object" },
  "extra members": {
    status: 400,
    body: "the body has a member other than query, operationName, variables and extensions",
  },
};

describeWithVectors("the answers of a live Besu node to GraphQL requests over HTTP", () => {
  const recorded = readdirSync(vectorPath("besu-graphql", "cases"));

  it.each(recorded)("%s", async (file) => {
    const { name, request, status, headers, responseText } = readVectorJson<Recorded>(
      "besu-graphql",
      `cases/${file}`,
    );
    // What answers is Besu here, so that all else is the server's.
    const server = await aGraphQlServer(async () => ({ status, body: [responseText] }), {
      corsOrigins: ["http://good.example", "http://other.example"],
      hostAllowlist: ["localhost", "127.0.0.1", "good.example"],
    });
    const answer = await ask(server, request);
    const { [name]: ours } = DIFFERENT;
    expect(answer.status).toBe(ours?.status ?? status);
    expect(answer.body).toBe(
      ours?.body === undefined ? responseText : JSON.stringify({ result: `Failed to decode:${ours.body}` }),
    );
    expect(comparable(answer.headers)).toEqual(comparable(headers));
  });

  function comparable(headers: object): object {
    const all = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    const {
      "content-length": _,
      "transfer-encoding": __,
      "content-encoding": ___,
      connection: ____,
      ...others
    } = Object.fromEntries(all);
    return others;
  }
});

describe("a GraphQL request", () => {
  const cases: readonly (readonly [name: string, request: HttpRequest, read: Partial<GraphQlRequest>])[] = [
    [
      "as JSON",
      {
        headers: JSON_TYPE,
        body: ' {"query":"query A($n:Long){block(number:$n){number}}","operationName":"A","variables":{"n":"0x1"}}\n',
      },
      { query: "query A($n:Long){block(number:$n){number}}", operationName: "A", variables: { n: "0x1" } },
    ],
    [
      "as JSON without anything",
      { headers: JSON_TYPE, body: "{}" },
      { query: "", operationName: undefined, variables: {} },
    ],
    [
      "as JSON with nulls",
      { headers: JSON_TYPE, body: '{"query":null,"operationName":null,"variables":null}' },
      { query: "", operationName: undefined, variables: {} },
    ],
    [
      "as JSON with extensions, which clients send",
      { headers: JSON_TYPE, body: '{"query":"{chainID}","extensions":{"clientLibrary":{"name":"x"}}}' },
      CHAIN_ID,
    ],
    ["as text", { body: " {chainID}\n" }, CHAIN_ID],
    ["as text of any type", { headers: { "content-type": "text/plain" }, body: "{chainID}" }, CHAIN_ID],
    [
      "by GET",
      { method: "GET", path: "/graphql?query=%7Ba+b%7D&operationName=B&variables=%7B%22n%22%3A2%7D" },
      { query: "{a b}", operationName: "B", variables: { n: 2 } },
    ],
    [
      "by GET without variables, with others that do not count",
      { method: "GET", path: "/graphql/?query=%7BchainID%7D&variables=null&extensions=%7B%7D&query=x#y" },
      CHAIN_ID,
    ],
    ["by GET without anything", { method: "GET", path: "/graphql" }, { query: "" }],
    [
      "by GET with the host in its target",
      { method: "GET", path: "http://localhost/graphql?query=%7BchainID%7D" },
      CHAIN_ID,
    ],
  ];

  it.each(cases)("%s", async (_name, request, read) => {
    const { server, asked } = await aToyServer();
    expect(await ask(server, { path: "/graphql", ...request })).toMatchObject({ status: 200, body: ANSWER });
    expect(asked).toEqual([expect.objectContaining(read)]);
  });

  const refused: readonly (readonly [name: string, request: HttpRequest, reason: string])[] = [
    ["variables that are a list", { method: "GET", path: "/graphql?variables=%5B%5D" }, "variables are not"],
    ["variables that are no JSON", { method: "GET", path: "/graphql?variables=%7B" }, "variables are not"],
    ["a query that is a list", { headers: JSON_TYPE, body: '{"query":[]}' }, "query is not a text"],
    [
      "too many members",
      {
        headers: JSON_TYPE,
        body: `{"query":"","variables":{${Array.from({ length: 200_001 }, (_, n) => `"${n}a":0`)}}}`,
      },
      "the body has too many lists, objects and members",
    ],
    [
      "a body that is too deep",
      { headers: JSON_TYPE, body: "[".repeat(2_000) },
      "the body is not JSON, or too deep",
    ],
  ];

  it.each(refused)("is refused for %s", async (_name, request, reason) => {
    const { server, asked } = await aToyServer();
    const answer = await ask(server, { path: "/graphql", ...request });
    expect(answer).toMatchObject({ status: 400, headers: { vary: "origin" } });
    expect(JSON.parse(answer.body)).toEqual({
      result: expect.stringContaining(`Failed to decode:${reason}`),
    });
    expect(asked).toEqual([]);
  });
});

describe("the routes of GraphQL", () => {
  const cases: readonly (readonly [name: string, request: HttpRequest, answer: object])[] = [
    [
      "the root, by GET",
      { method: "GET", path: "/?query=%7Ba%7D" },
      { status: 308, headers: { location: "/graphql" } },
    ],
    [
      "the root, by POST",
      { path: "/", body: "{chainID}" },
      { status: 308, headers: { location: "/graphql" } },
    ],
    ["the root, by PUT", { method: "PUT", path: "/" }, { status: 405, headers: { allow: "POST,GET" } }],
    ["options without a preflight", { method: "OPTIONS" }, { status: 405, headers: { allow: "POST,GET" } }],
    [
      "another path by HEAD",
      { method: "HEAD", path: "/x" },
      { status: 404, headers: { "content-length": "0" } },
    ],
    ["two slashes", { path: "//graphql" }, { status: 404 }],
    ["no log-in without users", { path: "/login", body: "{}" }, { status: 404 }],
    ["JSON refused, by GET", { method: "GET", headers: { accept: "text/html" } }, { status: 406, body: "" }],
  ];

  it.each(cases)("%s", async (_name, request, answer) => {
    const { server, asked } = await aToyServer();
    expect(await ask(server, { path: "/graphql", ...request })).toMatchObject(answer);
    expect(asked).toEqual([]);
  });
});

describe("a page of another site", () => {
  const image = {
    method: "GET",
    path: "/graphql?query=%7BchainID%7D",
    headers: { "sec-fetch-site": "cross-site" },
  };

  it("is refused when it does not name its origin, as for an image", async () => {
    const { server, asked } = await aToyServer({ corsOrigins: ["http://good.example"] });
    expect(await ask(server, image)).toMatchObject({ status: 403, body: "CORS Rejected - Invalid origin" });
    expect(asked).toEqual([]);
    const own = { ...image, headers: { "sec-fetch-site": "none" } };
    expect((await ask(server, own)).status).toBe(200);
  });

  it("cannot have a mutation by GET where its browser does not say which page asks", async () => {
    const { server, asked } = await aToyServer({ corsOrigins: ["http://good.example"] });
    const browser = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64)" };
    for (const headers of [
      browser,
      { ...browser, "sec-fetch-site": "none" },
      { ...browser, origin: "http://good.example" },
      { "user-agent": "curl/8.5.0" },
      {},
    ])
      expect((await ask(server, { ...image, headers })).status).toBe(200);
    expect(asked.map(({ isReadOnly }) => isReadOnly)).toEqual([true, ...Array(4).fill(undefined)]);
  });

  it("is answered where any origin is allowed", async () => {
    const { server } = await aToyServer({ corsOrigins: ["*"] });
    const answer = await ask(server, image);
    expect(answer).toMatchObject({ status: 200, body: ANSWER });
    expect(answer.headers).not.toHaveProperty("access-control-allow-origin");
  });
});

describe("the answers of GraphQL", () => {
  it("are sent whole when they are short, and otherwise as they are read", async () => {
    const long = `{"x":"${"é".repeat(400_000)}"}`;
    const server = await aGraphQlServer(async ({ query }) => ({
      status: 400,
      body:
        query === "long"
          ? [long.slice(0, 300_000), long.slice(300_000)]
          : [ANSWER.slice(0, 3), Buffer.from(ANSWER.slice(3, 9)), ANSWER.slice(9)],
    }));
    const short = await ask(server, { path: "/graphql", body: "short" });
    expect(short.headers).toMatchObject({ "content-length": String(ANSWER.length) });
    expect(short.body).toBe(ANSWER);
    const answer = await ask(server, { path: "/graphql", body: "long" });
    expect(answer).toMatchObject({
      status: 400,
      headers: {
        vary: "origin",
        "content-type": "application/json; charset=utf-8",
        "content-length": String(Buffer.byteLength(long)),
      },
    });
    expect(answer.body === long).toBe(true);
  });

  it("are made no faster than the client reads", async () => {
    let made = 0;
    function* pieces() {
      for (; made < 1_000; made++) yield "x".repeat(256 * 1024);
    }
    const server = await aGraphQlServer(async () => ({ status: 200, body: pieces() }));
    const client = post(server, "{a}");
    await once(client, "readable");
    // Each goes around the loop of the server several times, which would make more of the answer.
    for (let n = 0; n < 50; n++) await ask(server, { method: "GET", path: "/" });
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(MORE_THAN_KERNELS_TAKE / (256 * 1024));
  });

  it("count as they are made, and a connection is cut where all hold too much", async () => {
    const totals = shareTotals();
    const inFlight = new InFlightResponses(10_000_000, { logger: silentLogger, total: totals.httpAnswers });
    const heard: { readonly grow: (bytes: number) => void; readonly signal: AbortSignal }[] = [];
    const server = await aGraphQlServer(
      (_request, _caller, signal, grow) => {
        heard.push({ grow, signal });
        return new Promise((resolve) =>
          signal.addEventListener("abort", () => resolve({ status: 503, body: [] })),
        );
      },
      {},
      { inFlight },
    );
    for (let n = 1; n <= 3; n++) {
      post(server, "{a}");
      await expect.poll(() => heard.length).toBe(n);
      heard.at(-1)?.grow(4_000_000);
      expect(totals.httpAnswers.own).toBe(Math.min(n, 2) * 4_000_000);
    }
    await expect.poll(() => heard.map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
    heard[0]?.grow(5_000_000);
    expect(totals.httpAnswers.own).toBe(8_000_000);
  });

  it("end the connection when what answers fails, and no other", async () => {
    const server = await aGraphQlServer(async ({ query }) => {
      if (query === "broken") throw new Error("a defect");
      return { status: 200, body: [ANSWER] };
    });
    await expect(ask(server, { path: "/graphql", body: "broken" })).rejects.toThrow();
    expect((await ask(server, { path: "/graphql", body: "{chainID}" })).body).toBe(ANSWER);
  });
});

describe("GraphQL with tokens", () => {
  const gate: Gate = {
    // A method of JSON-RPC needs none.
    needsToken: false,
    grant: (token) =>
      token === undefined
        ? grantOpenMethods(new Set(["eth_chainId"]))
        : grantPermissions(new Set(token.split(",")), new Set(["eth_chainId"])),
    maySubscribe: () => false,
    login: undefined,
  };
  const unauthorized =
    '{\n  "errors" : [ {\n    "message" : "Unauthorized",\n    "extensions" : {\n' +
    '      "errorCode" : -40100,\n      "errorMessage" : "Unauthorized"\n    }\n  } ]\n}';
  const bearing = (token: string): HttpRequest => ({
    path: "/graphql",
    headers: { authorization: `Bearer ${token}` },
    body: "{chainID}",
  });

  it.each(["*:*", "eth:*", "eth:graphql,net:version"])("answers the permission %s", async (permissions) => {
    const { server, asked } = await aToyServer({}, { gate });
    expect(await ask(server, bearing(permissions))).toMatchObject({ status: 200, body: ANSWER });
    expect(asked).toEqual([CHAIN_ID]);
  });

  it("answers nobody else, neither without a token nor with permissions for single methods", async () => {
    const { server, asked } = await aToyServer({}, { gate });
    for (const request of [
      { path: "/graphql", body: "{chainID}" },
      { path: "/graphql?query=%7BchainID%7D", method: "GET" },
      bearing("eth:call,eth:getBalance"),
      bearing("net:*"),
    ]) {
      const answer = await ask(server, request);
      expect(answer).toMatchObject({ status: 401, body: unauthorized });
      expect(answer.headers).toMatchObject({ "content-type": "application/json; charset=utf-8" });
    }
    expect(asked).toEqual([]);
  });

  it("lets users log in, and tells browsers that a token may be sent", async () => {
    const login = async ({ name }: { name: string }) => ({ token: `token of ${name}` });
    const { server } = await aToyServer({ corsOrigins: ["*"] }, { gate: { ...gate, login } });
    const body = '{"username":"alice","password":"secret"}';
    expect((await ask(server, { path: "/login", body })).body).toBe('{"token":"token of alice"}');
    const preflight = { origin: "http://a.example", "access-control-request-method": "POST" };
    expect(await ask(server, { path: "/graphql", method: "OPTIONS", headers: preflight })).toMatchObject({
      status: 204,
      headers: { "access-control-allow-headers": "*,content-type,authorization" },
    });
  });
});

/** A server whose answers never come, and the signals of its requests. */
async function aHoldingServer(settings: Partial<GraphQlSettings> = {}) {
  const signals: AbortSignal[] = [];
  const server = await aGraphQlServer((_request, _caller, signal) => {
    signals.push(signal);
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }, settings);
  return { server, signals };
}

function post(server: RpcServer, body: string): net.Socket {
  const client = net.connect(server.port, "127.0.0.1");
  onTestFinished(() => void client.destroy());
  client.on("error", () => undefined);
  client.write(`POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  return client;
}

describe("the execution of a query", () => {
  it("is told when its client leaves", async () => {
    const { server, signals } = await aHoldingServer();
    const client = post(server, "{a}");
    await expect.poll(() => signals.length).toBe(1);
    expect(signals[0]?.aborted).toBe(false);
    client.destroy();
    await expect.poll(() => signals[0]?.aborted).toBe(true);
  });

  it("is told when its time is over, and the client gets 504", async () => {
    const { server, signals } = await aHoldingServer({ timeoutMs: 20 });
    const client = post(server, "{a}");
    const [answer] = (await once(client, "data")) as [Buffer];
    expect(answer.toString("latin1")).toMatch(/^HTTP\/1.1 504 .*\r\nConnection: close\r\n/s);
    await expect.poll(() => signals[0]?.aborted).toBe(true);
  });
});

describe("the limits of GraphQL", () => {
  it("refuse a body that is too large, with or without Content-Length", async () => {
    const { server, asked } = await aToyServer({ maxBodyBytes: 1000 });
    const large = "x".repeat(1001);
    for (const headers of [{}, { "transfer-encoding": "chunked" }])
      expect(await ask(server, { path: "/graphql", headers, body: large })).toMatchObject({
        status: 413,
        body: "Request Entity Too Large",
      });
    expect(asked).toEqual([]);
    expect((await ask(server, { path: "/graphql", body: "x".repeat(1000) })).status).toBe(200);
  });

  it("end requests whose headers or bodies do not arrive", async () => {
    const { server } = await aToyServer(
      {},
      { arrivalTimes: { headersMs: 50, bodyPauseMs: 50, checkMs: 10, handshakeMs: 50 } },
    );
    expect(await sendRaw(server, "POST /graphql HTTP/1.1\r\nHost: loc")).toMatch(/^HTTP\/1.1 408 /);
    const half = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{chain";
    expect(await sendRaw(server, half)).not.toMatch(/^HTTP\/1.1 200 /);
  });

  it("refuse headers, and a query by GET, that are too long", async () => {
    const { server, asked } = await aToyServer();
    const request = `GET /graphql?query=${"x".repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    expect(await sendRaw(server, request)).toMatch(/^HTTP\/1.1 431 /);
    expect(asked).toEqual([]);
  });

  it("close a connection above the limit while all others are being answered", async () => {
    const { server, signals } = await aHoldingServer({ maxConnections: 2 });
    post(server, "{a}");
    post(server, "{a}");
    await expect.poll(() => signals.length).toBe(2);
    expect(await sendRaw(server, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")).toBe("");
  });

  it("cut a connection that pipelines without end", async () => {
    const { server } = await aHoldingServer();
    const one = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n{a}";
    expect(await sendRaw(server, one.repeat(40))).toBe("");
  });

  it("survive bytes that are no HTTP, and requests cut anywhere", async () => {
    const { server } = await aToyServer();
    const request = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{chainID}";
    expect(await sendRaw(server, "\x16\x03\x01\x02\x00")).toMatch(/^HTTP\/1.1 400 /);
    for (let end = 0; end < request.length; end += 7) {
      const client = net.connect(server.port, "127.0.0.1");
      await once(client, "connect");
      client.end(request.slice(0, end));
      client.destroy();
    }
    expect((await ask(server, { path: "/graphql", body: "{chainID}" })).body).toBe(ANSWER);
  });
});
