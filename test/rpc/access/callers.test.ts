import { generateKeyPairSync } from "node:crypto";
import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/observability/logger.ts";
import { createGate } from "../../../src/rpc/access/gate.ts";
import { LOGIN_BODY_BYTES } from "../../../src/rpc/access/limits.ts";
import type { Login } from "../../../src/rpc/access/login.ts";
import { createRpcMetrics, type RpcCount } from "../../../src/rpc/rpcMetrics.ts";
import { TOKEN_CHECK_MS } from "../../../src/rpc/server/limits.ts";
import { EventText } from "../../../src/rpc/subscriptions/notificationText.ts";
import { createHandClock } from "../../builders/handClock.ts";
import {
  anHttpServer,
  ask,
  aWebSocketClient,
  aWebSocketServer,
  type HttpRequest,
} from "../server/servers.ts";
import { aToyDispatcher } from "../toyMethods.ts";

const NOW = 1_800_000_000;
const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

function aToken(permissions: readonly string[], seconds = 300): Promise<string> {
  return new SignJWT({ permissions })
    .setProtectedHeader({ alg: "RS256" })
    .setIssuedAt(NOW)
    .setExpirationTime(NOW + seconds)
    .sign(privateKey);
}

function call(method: string, id: number | string = 1): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params: [] });
}

function unauthorized(id: number | string | null): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-40100,"message":"Unauthorized"}}`;
}

const CHAIN_ID = '{"jsonrpc":"2.0","id":1,"result":"0x1c03"}';

/** What the servers need, with a clock that the test turns. */
function aGuard({ openMethods = [], login }: { openMethods?: readonly string[]; login?: Login } = {}) {
  const time = { now: NOW };
  const counts: RpcCount[] = [];
  const metrics = createRpcMetrics(
    () => 0,
    (one) => counts.push(one),
  );
  const tokens = {
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
    algorithm: "RS256",
    audience: undefined,
  };
  const rules = { current: { tokens, openMethods } };
  const gate = createGate(() => rules.current, {
    login,
    nowMs: () => time.now * 1000,
    logger: silentLogger,
    metrics,
  });
  const { dispatcher, backend } = aToyDispatcher({ metrics });
  const rejected = (): readonly string[] =>
    counts.flatMap((one) => (one.kind === "rejected" ? [one.reason] : []));
  return { dispatcher, backend, parts: { gate, metrics }, time, rejected, rules };
}

async function overHttp(options: Parameters<typeof aGuard>[0] = {}) {
  const guard = aGuard(options);
  const server = await anHttpServer(guard.dispatcher, {}, guard.parts);
  const post = async (body: string, token?: string, more: HttpRequest = {}) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return ask(server, { body, ...more, headers: { ...headers, ...more.headers } });
  };
  return { ...guard, server, post };
}

describe("over HTTP", () => {
  it("nobody is answered without a token, before the request is read", async () => {
    const { post, backend, rejected } = await overHttp();
    for (const body of [call("eth_chainId"), `[${call("eth_chainId")}]`, "{", call("eth_nope")])
      expect(await post(body)).toMatchObject({ status: 401, body: unauthorized(null) });
    expect((await post(call("eth_chainId"))).headers["content-type"]).toBeUndefined();
    expect(backend.calls).toEqual([]);
    expect(rejected()).toEqual(Array(5).fill("token"));
  });

  it("a token opens what its permissions allow", async () => {
    const { post, backend, rejected } = await overHttp();
    const token = await aToken(["eth:chainId"]);
    expect(await post(call("eth_chainId"), token)).toMatchObject({ status: 200, body: CHAIN_ID });
    expect(await post(call("net_version", "a"), token)).toMatchObject({
      status: 401,
      body: unauthorized("a"),
    });
    expect(backend.calls).toEqual(["eth_chainId"]);
    expect(rejected()).toEqual(["permission"]);
  });

  it("the method is looked up first, and its parameters are read last", async () => {
    const { post } = await overHttp();
    const token = await aToken(["net:*"]);
    expect((await post(call("eth_nope"), token)).body).toContain("-32601");
    expect((await post(call("debug_traceCall"), token)).body).toContain("-32604");
    expect((await post(call("eth_getBalance"), token)).body).toContain("-40100");
  });

  it("a batch answers 200, and each request by itself", async () => {
    const { post } = await overHttp();
    const batch = `[${call("eth_chainId")},${call("net_version", 2)}]`;
    expect(await post(batch, await aToken(["eth:*"]))).toMatchObject({
      status: 200,
      body: `[${CHAIN_ID},${unauthorized(2)}]`,
    });
    expect(await post(batch, "nonsense")).toMatchObject({
      status: 200,
      body: `[${unauthorized(1)},${unauthorized(2)}]`,
    });
  });

  it("a token that does not count is as good as none, and counted", async () => {
    const { post, time, rejected } = await overHttp();
    const token = await aToken(["*:*"]);
    expect((await post(call("eth_chainId"), token)).status).toBe(200);
    time.now += 300;
    expect(await post(call("eth_chainId"), token)).toMatchObject({ status: 401, body: unauthorized(1) });
    expect((await post(call("eth_chainId"), "x".repeat(9000))).status).toBe(401);
    expect(rejected()).toEqual(["token", "permission", "token", "permission"]);
  });

  it("methods without token are answered to everybody, others are not", async () => {
    const { post } = await overHttp({ openMethods: ["net_version"] });
    expect((await post(call("net_version"))).status).toBe(200);
    expect((await post(call("net_version"), "nonsense")).status).toBe(200);
    expect((await post(call("eth_chainId"))).status).toBe(401);
    expect((await post(call("eth_nope"))).body).toContain("-32601");
    expect((await post(`[${call("net_version")},${call("eth_chainId", 2)}]`)).body).toContain(
      unauthorized(2),
    );
  });

  it.each([
    ["another scheme", ["Basic TOKEN"]],
    ["another case", ["bearer TOKEN"]],
    ["no scheme", ["TOKEN"]],
    ["two headers", ["Bearer TOKEN", "Bearer TOKEN"]],
    ["two headers of which one counts", ["Bearer TOKEN", "Bearer other"]],
  ])("the header counts in one form only: %s", async (_what, values) => {
    const { server } = await overHttp();
    const token = await aToken(["*:*"]);
    const headers = { authorization: values.map((value) => value.replace("TOKEN", token)) };
    const answer = await ask(server, {
      body: call("eth_chainId"),
      headers: headers as unknown as Record<string, string>,
    });
    expect(answer).toMatchObject({ status: 401, body: unauthorized(null) });
  });

  it("health and the empty GET need no token", async () => {
    const guard = aGuard();
    const server = await anHttpServer(guard.dispatcher, {}, guard.parts);
    expect((await ask(server, { method: "GET", path: "/liveness" })).status).toBe(200);
    expect((await ask(server, { method: "GET" })).status).toBe(201);
  });

  it("a foreign page may ask with a token", async () => {
    const guard = aGuard();
    const corsOrigins = ["http://page\\.example"];
    const server = await anHttpServer(guard.dispatcher, { corsOrigins }, guard.parts);
    const preflight = await ask(server, {
      method: "OPTIONS",
      headers: { origin: "http://page.example", "access-control-request-method": "POST" },
    });
    expect(preflight.headers["access-control-allow-headers"]).toBe("*,content-type,authorization");
  });

  it("what is refused for its form keeps its status", async () => {
    const { post } = await overHttp();
    const headers = { accept: "text/html" };
    expect((await post(call("eth_chainId"), undefined, { headers })).status).toBe(406);
    expect((await post("{", await aToken(["*:*"]))).status).toBe(400);
  });

  it("another key holds from the moment that it replaces the first", async () => {
    const { post, rules } = await overHttp();
    const token = await aToken(["*:*"]);
    expect((await post(call("eth_chainId"), token)).status).toBe(200);
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey;
    const pem = other.export({ type: "spki", format: "pem" }).toString();
    rules.current = { ...rules.current, tokens: { ...rules.current.tokens, publicKey: pem } };
    expect((await post(call("eth_chainId"), token)).status).toBe(401);
  });
});

describe("POST /login", () => {
  const login: Login = async ({ name, password }) => {
    if (name === "busy") return "busy";
    return password === "right" ? { token: `for ${name}` } : "wrong";
  };
  const required = "Authentication failed: username and password are required.";
  const incorrect = "Authentication failed: the username or password is incorrect.";
  const cases: readonly (readonly [body: string, status: number, text: string])[] = [
    ['{"username":"eve","password":"right"}', 200, '{"token":"for eve"}'],
    ['{"username":"eve","password":"wrong"}', 401, incorrect],
    ['{"username":"busy","password":"right"}', 429, "Too many log-ins. Try again later."],
    ['{"username":"eve"}', 400, required],
    ['{"password":"right"}', 400, required],
    ['{"username":{},"password":["right"]}', 400, required],
    ["", 400, required],
    ["[]", 400, required],
    ["{", 400, required],
    [`{"username":"${"x".repeat(LOGIN_BODY_BYTES)}"}`, 413, "Request Entity Too Large"],
  ];

  it.each(cases)("%.40s: %i", async (body, status, text) => {
    const http = await overHttp({ login });
    const { dispatcher, parts } = aGuard({ login });
    const webSocket = await aWebSocketServer(dispatcher, {}, parts);
    for (const server of [http.server, webSocket]) {
      const answer = await ask(server, { path: "/login", body });
      expect(answer).toMatchObject({ status, body: text });
      expect(answer.headers["content-type"]).toBe(status === 200 ? "application/json" : undefined);
    }
  });

  it("may have a query, over HTTP and WebSocket", async () => {
    const http = await overHttp({ login });
    const { dispatcher, parts } = aGuard({ login });
    const webSocket = await aWebSocketServer(dispatcher, {}, parts);
    const body = '{"username":"eve","password":"right"}';
    for (const server of [http.server, webSocket])
      expect((await ask(server, { path: "/login?from=here", body })).status).toBe(200);
  });

  it("is refused to a foreign page, which could use up the attempts of its viewer", async () => {
    const http = await overHttp({ login });
    const { dispatcher, parts, rejected } = aGuard({ login });
    const webSocket = await aWebSocketServer(dispatcher, {}, parts);
    const body = '{"username":"eve","password":"right"}';
    for (const server of [http.server, webSocket]) {
      const headers = { origin: "http://page.example" };
      expect((await ask(server, { path: "/login", body, headers })).status).toBe(403);
    }
    expect([...http.rejected(), ...rejected()]).toEqual(["origin", "origin"]);
  });

  it("says that nobody can log in where tokens come from elsewhere", async () => {
    const { post } = await overHttp();
    expect(await post("{}", undefined, { path: "/login" })).toMatchObject({
      status: 400,
      reason: "Authentication not enabled",
    });
  });

  it("counts what it refuses", async () => {
    const { post, rejected } = await overHttp({ login });
    await post('{"username":"eve","password":"wrong"}', undefined, { path: "/login" });
    await post('{"username":"busy","password":"x"}', undefined, { path: "/login" });
    expect(rejected()).toEqual(["login", "logins"]);
  });
});

describe("over WebSocket", () => {
  async function connect(options: Parameters<typeof aGuard>[0] & { token?: string }) {
    const { token, ...others } = options;
    const guard = aGuard(others);
    const clock = createHandClock(0);
    const server = await aWebSocketServer(guard.dispatcher, {}, { ...guard.parts, clock });
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return { ...guard, clock, client: await aWebSocketClient(server, { headers }) };
  }

  it("the token comes with the upgrade", async () => {
    const { client } = await connect({ token: await aToken(["eth:*"]) });
    client.send(call("eth_chainId"));
    expect(await client.next()).toBe(CHAIN_ID);
    client.send(call("net_version", 2));
    expect(await client.next()).toBe(unauthorized(2));
    client.send(`[${call("eth_chainId")},${call("net_version", 2)}]`);
    expect(await client.next()).toBe(`[${CHAIN_ID},${unauthorized(2)}]`);
  });

  it("without one, or with a wrong one, every call is refused", async () => {
    for (const token of [undefined, "nonsense"]) {
      const { client, backend } = await connect(token === undefined ? {} : { token });
      client.send(call("eth_chainId"));
      expect(await client.next()).toBe(unauthorized(1));
      client.send(call("eth_nope"));
      expect(await client.next()).toContain("-32601");
      expect(backend.calls).toEqual([]);
    }
  });

  it.each([
    ["ends with the token that allowed it", [], true],
    ["goes on without a token where none is needed", ["eth_subscribe"], false],
  ])("a subscription %s", async (_, openMethods, ends) => {
    const { client, time, backend } = await connect({ token: await aToken(["*:*"]), openMethods });
    client.send(call("toy_hold"));
    await expect.poll(() => backend.contexts.length).toBe(1);
    const connection = backend.contexts[0]?.connection;
    connection?.notify("0x1", new EventText('"before"'));
    expect(await client.next()).toContain('"before"');
    time.now += 300;
    connection?.notify("0x1", new EventText('"after"'));
    if (ends) expect(await client.closed).toBe(1008);
    else expect(await client.next()).toContain('"after"');
  });

  it.each([
    ["ends with the token though no event comes", [], 1, true],
    ["goes on where no token is needed for it", ["eth_subscribe"], 1, false],
    ["that was cancelled leaves the connection open", [], 0, false],
  ])("a subscription %s", async (_, openMethods, subscriptions, ends) => {
    const { client, time, clock, backend } = await connect({ token: await aToken(["*:*"]), openMethods });
    client.send(call("toy_hold"));
    await expect.poll(() => backend.contexts.length).toBe(1);
    const connection = backend.contexts[0]?.connection;
    connection?.subscribed(subscriptions);
    clock.advanceBy(TOKEN_CHECK_MS);
    connection?.send("before");
    expect(await client.next()).toBe("before");
    time.now += 300;
    clock.advanceBy(TOKEN_CHECK_MS);
    if (ends) expect(await client.closed).toBe(1008);
    else {
      connection?.send("after");
      expect(await client.next()).toBe("after");
    }
  });

  it("a token can expire while the connection lasts", async () => {
    const { client, time } = await connect({ token: await aToken(["*:*"]), openMethods: ["net_version"] });
    client.send(call("eth_chainId"));
    expect(await client.next()).toBe(CHAIN_ID);
    time.now += 300;
    client.send(call("eth_chainId"));
    expect(await client.next()).toBe(unauthorized(1));
    client.send(call("net_version", 3));
    expect(await client.next()).toContain('"7171"');
  });
});
