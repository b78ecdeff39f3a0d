import { beforeEach, describe, expect, it } from "vitest";
import { expectDefined } from "../../src/primitives/assert.ts";
import { ERRORS } from "../../src/rpc/errors/errors.ts";
import { METHODS } from "../../src/rpc/methods/registry.ts";
import { aChainSpec, aMiner, rpcPorts } from "../builders/anRpcBackend.ts";
import { aStoredBlock } from "../builders/aStoredBlock.ts";
import { chainOf } from "../builders/recordedChain.ts";
import { type ThreadServersOfTest, threadServersOf } from "../callers/threads/threadServers.ts";
import { ask, aWebSocketClient } from "../rpc/server/servers.ts";
import { someOf } from "../thorough.ts";
import { settingsOf } from "./settingsOf.ts";

/** Which methods a web page may call on the development network's node, whose servers accept every origin. */

/** Methods outside the groups ADMIN, MINER and PERM that change the node. */
const GUARDED_IN_OTHER_GROUPS = [
  "debug_replayBlock",
  "debug_resyncWorldState",
  "debug_resyncWorldstate",
  "debug_setHead",
  "debug_standardTraceBadBlockToFile",
  "debug_standardTraceBlockToFile",
  "ibft_discardValidatorVote",
  "ibft_proposeValidatorVote",
];
const NAMES = METHODS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
const GUARDED = NAMES.filter(
  (name) => /^(admin|miner|perm)_/.test(name) || GUARDED_IN_OTHER_GROUPS.includes(name),
);
const EVIL = "http://evil.example";
const { code: NOT_ENABLED, message: NOT_ENABLED_TEXT } = ERRORS.methodNotEnabled;

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

let stops = 0;

async function anOpenNode(options: Readonly<Record<string, string>> = {}): Promise<ThreadServersOfTest> {
  const chain = chainOf([aStoredBlock({ number: 0 })]);
  const spec = aChainSpec(chain, { chainId: 7171n, fork: "london" });
  const settings = settingsOf("/", { "rpc-http-port": "0", "rpc-ws-port": "0", ...options });
  const mining = { ...aMiner(), stop: () => void stops++ };
  return threadServersOf(settings, rpcPorts({ chain, spec, mining }));
}

async function overHttp(
  { http }: ThreadServersOfTest,
  methods: readonly string[],
  headers: Readonly<Record<string, string>>,
): Promise<readonly Answer[]> {
  const body = JSON.stringify(methods.map((method, id) => ({ jsonrpc: "2.0", id, method, params: [] })));
  const server = expectDefined(http, "the HTTP server");
  return JSON.parse((await ask(server, { headers, body })).body) as readonly Answer[];
}

async function overWebSocket(
  { webSocket }: ThreadServersOfTest,
  methods: readonly string[],
  headers: Readonly<Record<string, string>>,
): Promise<readonly Answer[]> {
  const client = await aWebSocketClient(expectDefined(webSocket, "the WebSocket server"), { headers });
  client.send(methods.map((method, id) => ({ jsonrpc: "2.0", id, method, params: [] })));
  return client.nextJson();
}

const SERVERS = [
  ["HTTP", overHttp],
  ["WebSocket", overWebSocket],
] as const;

function isRefused({ error }: Answer): boolean {
  return error?.code === NOT_ENABLED && error.message === NOT_ENABLED_TEXT;
}

beforeEach(() => {
  stops = 0;
});

describe.each(someOf(SERVERS))("over %s", (_, asked) => {
  /** Whether a page with these headers may stop mining; checks both the response and the node. */
  async function mayStop(
    headers: Readonly<Record<string, string>>,
    options?: Readonly<Record<string, string>>,
  ): Promise<boolean> {
    const servers = await anOpenNode(options);
    const [answer] = await asked(servers, ["miner_stop"], headers);
    const wasStopped = stops > 0;
    stops = 0;
    expect(answer?.result).toBe(wasStopped ? true : undefined);
    expect(isRefused(answer ?? { id: 0 })).toBe(!wasStopped);
    return wasStopped;
  }

  it("a foreign page may call everything except methods that change the node", async () => {
    const servers = await anOpenNode();
    const answers = await asked(servers, NAMES, { origin: EVIL });
    const refused = answers.filter(isRefused).map(({ id }) => NAMES[id]);
    expect(refused).toEqual(GUARDED);
    expect(stops).toBe(0);
    const [modules, document] = (await asked(servers, ["rpc_modules", "rpc.discover"], { origin: EVIL })).map(
      ({ result }) => JSON.stringify(result),
    );
    expect(modules).toContain('"debug"');
    expect(modules).not.toMatch(/admin|miner|perm/);
    for (const name of GUARDED) expect(document).not.toContain(`"name":"${name}"`);
  });

  it("a program may call everything", async () => {
    const servers = await anOpenNode();
    expect((await asked(servers, NAMES, {})).filter(isRefused)).toEqual([]);
    expect(stops).toBe(1);
  });

  it.each([
    ["another port of this host", "http://localhost:3000"],
    ["another name of this host", "http://localhost:HTTP"],
    ["a file", "null"],
    ["a file, as some browsers send it", "file://"],
    ["an extension", "chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn"],
    ["an empty origin", ""],
  ])("a page of %s is foreign", async (_name, origin) => {
    expect(await mayStop({ origin: origin.replace("HTTP", "8545") })).toBe(false);
  });

  it("a page that the browser marks as cross-site is foreign, whatever its origin", async () => {
    expect(await mayStop({ "sec-fetch-site": "cross-site" })).toBe(false);
    expect(await mayStop({ "sec-fetch-site": "same-site" })).toBe(false);
    expect(await mayStop({ "sec-fetch-site": "none" })).toBe(true);
  });

  it("a page of the endpoint's own origin is not foreign, unless its host name is not on the allowlist (DNS rebinding)", async () => {
    expect(await mayStop({ origin: "http://127.0.0.1:8545", host: "127.0.0.1:8545" })).toBe(true);
    expect(await mayStop({ origin: "https://localhost", host: "localhost" })).toBe(true);
    expect(await mayStop({ origin: "http://127.0.0.1:8546", host: "127.0.0.1:8545" })).toBe(false);
    const own = { origin: "http://node.example", host: "node.example" };
    expect(await mayStop(own, { "host-allowlist": "*" })).toBe(false);
    expect(await mayStop(own, { "host-allowlist": "Node.example" })).toBe(true);
  });

  const page = { origin: "http://App.example:3000" };

  it("a page of a configured origin is not foreign", async () => {
    expect(await mayStop(page, { "rpc-ws-origins": "http://app.example:3000,https://b.example" })).toBe(true);
  });

  it("* and patterns match no origin", async () => {
    for (const names of ["*", "all", "http://.*:3000", "http://app.example", "none"])
      expect([names, await mayStop(page, { "rpc-ws-origins": names })]).toEqual([names, false]);
    for (const origin of ["null", "*"])
      expect([origin, await mayStop({ origin }, { "rpc-ws-origins": origin })]).toEqual([origin, false]);
  });
});

it("over HTTP a page of an origin that --rpc-http-cors-origins names in full may change the node", async () => {
  const stop = async (origin: string, names: string) => {
    const servers = await anOpenNode({ "rpc-http-cors-origins": names });
    const [answer] = await overHttp(servers, ["miner_stop"], { origin });
    return answer?.result === true;
  };
  expect(await stop("http://app.example:3000", "http://app.example:3000")).toBe(true);
  expect(await stop("http://app.example:3000", "http://app\\.example:3000")).toBe(true);
  expect(await stop("http://app.example:3000", "http://[a-z]+.example:3000")).toBe(false);
  expect(await stop("http://app.example:3000", "*")).toBe(false);
  // The origin of every page in a sandboxed frame.
  expect(await stop("null", "null")).toBe(false);
});
