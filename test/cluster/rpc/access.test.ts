import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { hashSync } from "bcryptjs";
import { SignJWT } from "jose";
import { createPublicClient, http } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY_FILE } from "../../../src/config/devNetwork.ts";
import { HANG_MS } from "../../hang.ts";
import { itIfThorough } from "../../thorough.ts";
import {
  freePort,
  logOf,
  type NodeProcess,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";
import { OwnTime } from "../harness/ownTime.ts";

const run = promisify(execFile);
/** A Python with web3.py, where there is one. */
const PYTHON = process.env["IBEX_PYTHON"] ?? "python3";
const hasWeb3 = await run(PYTHON, ["-c", "import web3"]).then(
  () => true,
  () => false,
);
const itWithWeb3 = hasWeb3 ? it : it.skip;

const issuer = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const other = generateKeyPairSync("ec", { namedCurve: "prime256v1" });

function user(name: string, permissions: readonly string[]): string {
  const hash = hashSync(`password of ${name}`, 5);
  return `[Users.${name}]\npassword = "${hash}"\npermissions = ${JSON.stringify(permissions)}\n`;
}

/** A sole validator whose users log in over HTTP, and whose tokens for WebSocket are issued elsewhere. */
async function aGuardedNode(threads: number) {
  const folder = temporaryFolder();
  const files = { users: join(folder, "users.toml"), key: join(folder, "key.pem") };
  const setUsers = (...users: readonly string[]): void => writeFileSync(files.users, users.join(""));
  const setKey = ({ publicKey }: typeof issuer): void =>
    writeFileSync(files.key, publicKey.export({ type: "spki", format: "pem" }));
  setUsers(user("reader", ["eth:*", "web3:clientVersion"]), user("operator", ["*:*"]));
  setKey(issuer);
  const metricsPort = await freePort();
  const node = await startNodeProcess({
    dataPath: folder,
    options: [
      `--genesis-file=${DEV_GENESIS_FILE}`,
      `--node-private-key-file=${DEV_VALIDATOR_KEY_FILE}`,
      "--p2p-enabled=false",
      "--rpc-http-enabled",
      "--rpc-ws-enabled",
      `--rpc-threads=${threads}`,
      "--rpc-http-api=ETH,NET,WEB3,ADMIN",
      "--rpc-http-authentication-enabled",
      `--rpc-http-authentication-credentials-file=${files.users}`,
      "--rpc-http-api-method-no-auth=net_version,eth_chainId",
      "--rpc-ws-authentication-enabled",
      `--rpc-ws-authentication-jwt-public-key-file=${files.key}`,
      "--rpc-ws-authentication-jwt-algorithm=ES256",
      "--rpc-ws-authentication-jwt-audience=ibex",
      "--metrics-enabled",
      `--metrics-port=${metricsPort}`,
    ],
  });
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const line = text.split("\n").find((one) => one.startsWith(`${name} `));
    return Number(line?.split(" ").at(-1) ?? Number.NaN);
  };
  return { node, setUsers, setKey, metric };
}

async function logIn(node: NodeProcess, name: string, password = `password of ${name}`) {
  const body = JSON.stringify({ username: name, password });
  const response = await fetch(`${node.httpUrl}/login`, { method: "POST", body });
  const text = await response.text();
  const token = response.ok ? (JSON.parse(text) as { readonly token: string }).token : undefined;
  return { status: response.status, token, text };
}

async function tokenOf(node: NodeProcess, name: string): Promise<string> {
  const { token, text } = await logIn(node, name);
  if (token === undefined) throw new Error(text);
  return token;
}

async function call(node: NodeProcess, method: string, token?: string) {
  const response = await fetch(node.httpUrl, {
    method: "POST",
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] }),
  });
  const answer = (await response.json()) as { readonly result?: unknown; readonly error?: { code: number } };
  return { status: response.status, result: answer.result, code: answer.error?.code };
}

function anExternalToken(audience = "ibex", { privateKey } = issuer): Promise<string> {
  return new SignJWT({ permissions: ["eth:*"] })
    .setProtectedHeader({ alg: "ES256" })
    .setAudience(audience)
    .setExpirationTime("1 minute")
    .sign(privateKey);
}

/** The first answer over a WebSocket that was opened with the token. */
function overWebSocket(node: NodeProcess, method: string, token: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(node.wsUrl, { headers: { authorization: `Bearer ${token}` } });
    socket.on("error", reject);
    socket.on("message", (data) => {
      resolve(String(data));
      socket.close();
    });
    socket.on("open", () =>
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: ["newHeads"] })),
    );
  });
}

describe.each([1, 2])("a node with log-ins, and %i threads for callers", (threads) => {
  let guarded: Awaited<ReturnType<typeof aGuardedNode>>;
  let node: NodeProcess;

  beforeAll(async () => {
    guarded = await aGuardedNode(threads);
    node = guarded.node;
  });

  afterAll(async () => {
    expect(await node.stop()).toBe(0);
  });

  it("answers nobody without a token, save the methods without and health", async () => {
    expect(await call(node, "eth_blockNumber")).toEqual({ status: 401, result: undefined, code: -40100 });
    expect(await call(node, "net_version")).toMatchObject({ status: 200, result: "1337" });
    expect((await fetch(`${node.httpUrl}/liveness`)).status).toBe(200);
  });

  it("gives each user what is permitted, also of what the main thread answers", async () => {
    const reader = await tokenOf(node, "reader");
    const operator = await tokenOf(node, "operator");
    expect((await call(node, "eth_blockNumber", reader)).status).toBe(200);
    expect(await call(node, "admin_nodeInfo", reader)).toMatchObject({ status: 401, code: -40100 });
    expect((await call(node, "admin_changeLogLevel", operator)).code).toBe(-32602);
    expect((await call(node, "web3_clientVersion", reader)).status).toBe(200);
  });

  it("does not tell unknown names from wrong passwords", async () => {
    const wrong = await logIn(node, "reader", "wrong");
    expect(wrong).toEqual(await logIn(node, "nobody", "wrong"));
    expect(wrong.status).toBe(401);
  });

  it("takes tokens of another issuer over WebSocket, for its audience", async () => {
    expect(await overWebSocket(node, "eth_subscribe", await anExternalToken())).toMatch(/"result":"0x/);
    for (const token of [await anExternalToken("others"), await anExternalToken("ibex", other), "x"])
      expect(await overWebSocket(node, "eth_subscribe", token)).toContain("-40100");
    expect(await overWebSocket(node, "net_version", await anExternalToken())).toContain("-40100");
    const here = await tokenOf(node, "operator");
    expect(await overWebSocket(node, "eth_subscribe", here)).toContain("-40100");
  });

  it("is called by curl", async () => {
    const login = await run("curl", [
      "-sS",
      "--data",
      '{"username":"reader","password":"password of reader"}',
      `${node.httpUrl}/login`,
    ]);
    const { token } = JSON.parse(login.stdout) as { readonly token: string };
    const { stdout } = await run("curl", [
      "-sS",
      "--header",
      `Authorization: Bearer ${token}`,
      "--data",
      '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}',
      node.httpUrl,
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ result: expect.stringMatching(/^0x/) });
  });

  it("is called by viem", async () => {
    const headers = { Authorization: `Bearer ${await tokenOf(node, "reader")}` };
    const client = createPublicClient({
      transport: http(node.httpUrl, { fetchOptions: { headers }, timeout: HANG_MS }),
    });
    expect(await client.getBlockNumber()).toBeTypeOf("bigint");
    const anonymous = createPublicClient({
      transport: http(node.httpUrl, { retryCount: 0, timeout: HANG_MS }),
    });
    await expect(anonymous.getBlockNumber()).rejects.toThrow("Unauthorized");
  });

  itWithWeb3("is called by web3.py", async () => {
    const script = `
import sys
from web3 import HTTPProvider, Web3
url, token = sys.argv[1:]
headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
web3 = Web3(HTTPProvider(url, request_kwargs={"headers": headers}))
print(web3.eth.block_number >= 0)
`;
    const { stdout } = await run(PYTHON, ["-c", script, node.httpUrl, await tokenOf(node, "reader")]);
    expect(stdout.trim()).toBe("True");
  });

  it("rereads users and keys when it is told to", async () => {
    const { setUsers, setKey } = guarded;
    const rereads = () => logOf(node).filter(({ message }) => message.includes("reread"));
    const hangUp = async () => {
      const { length } = rereads();
      node.child.kill("SIGHUP");
      return until(async () => rereads()[length], "an answer to SIGHUP");
    };
    setUsers("nonsense");
    expect((await hangUp()).message).toContain("line 1 is not TOML");
    expect((await logIn(node, "reader")).status).toBe(200);
    setUsers(user("reader", ["net:*"]), user("newcomer", ["eth:*"]));
    setKey(other);
    expect((await hangUp())["changed"]).toEqual([
      "rpc-http users: 1 added, 1 removed, 1 changed",
      "rpc-ws tokens: another key",
    ]);
    expect((await logIn(node, "operator")).status).toBe(401);
    expect((await call(node, "eth_blockNumber", await tokenOf(node, "newcomer"))).status).toBe(200);
    expect((await call(node, "eth_blockNumber", await tokenOf(node, "reader"))).status).toBe(401);
    expect(await overWebSocket(node, "eth_subscribe", await anExternalToken())).toContain("-40100");
    expect(await overWebSocket(node, "eth_subscribe", await anExternalToken("ibex", other))).toContain(
      "result",
    );
  });

  itIfThorough(
    "makes its blocks on time under a flood of log-ins and tokens, and counts what it refuses",
    async () => {
      const token = await tokenOf(node, "newcomer");
      const head = async (): Promise<number> => Number((await call(node, "eth_blockNumber", token)).result);
      const attack = { isOn: true, sent: 0 };
      const flood = async (one: () => Promise<unknown>): Promise<void> => {
        while (attack.isOn) {
          await one();
          attack.sent++;
        }
      };
      const before = await head();
      const own = new OwnTime(node);
      const attackers = Array.from({ length: 24 }, (_, at) =>
        flood(() =>
          at % 2 === 0
            ? logIn(node, `unknown ${at} ${attack.sent}`, "x".repeat(100))
            : call(node, "eth_blockNumber", `${token.slice(0, -8)}AAAAAAAA`),
        ),
      );
      await until(async () => (attack.sent > 1000 ? true : undefined), "a flood");
      await until(async () => ((await head()) >= before + 5 ? true : undefined), "blocks");
      const least = own.leastBlocks();
      expect((await head()) - before).toBeGreaterThanOrEqual(least);
      attack.isOn = false;
      await Promise.all(attackers);
      expect(await guarded.metric('rpc_requests_rejected_total{reason="token"}')).toBeGreaterThan(100);
      const refusedLogins = ["login", "logins"].map((reason) =>
        guarded.metric(`rpc_requests_rejected_total{reason="${reason}"}`),
      );
      expect((await Promise.all(refusedLogins)).reduce((sum, one) => sum + one)).toBeGreaterThan(100);
      expect((await logIn(node, "newcomer")).status).toBe(200);
    },
  );
});
