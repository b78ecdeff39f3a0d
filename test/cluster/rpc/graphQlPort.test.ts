import { readFileSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY_FILE } from "../../../src/config/devNetwork.ts";
import { aCertificateFor } from "../../builders/tlsFiles.ts";
import { itIfThorough } from "../../thorough.ts";
import {
  freePort,
  type NodeProcess,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

/** GraphQL's port of a real node; what it answers is tested below test/rpc/graphql, and by test/cluster/clients/graphQl.test.ts. */

const QUERY = "{ gasPrice }";

/** The answer to a query, sent as text. */
async function query(url: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(url, { method: "POST", headers, body: QUERY });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const ANSWERED = { status: 200, text: expect.stringMatching(/^\{\n {2}"data" : \{\n {4}"gasPrice" : "0x/) };

function portsOf({ dataPath }: NodeProcess): string {
  return readFileSync(join(dataPath, "besu.ports"), "utf8");
}

describe("a node with GraphQL", () => {
  let node: NodeProcess;
  let url: string;
  const ports = { graphQl: 0, explorer: 0, metrics: 0 };

  beforeAll(async () => {
    ports.graphQl = await freePort();
    ports.explorer = await freePort();
    ports.metrics = await freePort();
    node = await startNodeProcess({
      options: [
        "--graphql-http-enabled",
        `--graphql-http-port=${ports.graphQl}`,
        `--explorer-port=${ports.explorer}`,
        "--metrics-enabled",
        `--metrics-port=${ports.metrics}`,
        "--rpc-threads=2",
      ],
    });
    url = `http://127.0.0.1:${ports.graphQl}/graphql`;
  });

  afterAll(async () => {
    expect(await node.stop()).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  it("answers on its port, on every thread, and on no other port", async () => {
    for (let n = 0; n < 10; n++) expect(await query(url, { connection: "close" })).toMatchObject(ANSWERED);
    for (const port of [node.httpPort, node.wsPort, ports.explorer])
      expect((await query(`http://127.0.0.1:${port}/graphql`)).text).not.toContain("gasPrice");
  });

  it("tells its port where Besu and Ibex do", async () => {
    expect(portsOf(node)).toContain(`graphql-http=${ports.graphQl}\n`);
    expect(Object.keys(await node.rpc<object>("net_services"))).toEqual(["jsonrpc", "ws", "metrics"]);
    expect(node.output()).toContain(`GraphQL      http://127.0.0.1:${ports.graphQl}/graphql`);
    const status = runProgram([`--data-path=${node.dataPath}`, "status"]);
    await status.exit;
    expect(status.output()).toMatch(new RegExp(`^Servers .*graphql 127.0.0.1:${ports.graphQl}`, "m"));
  });

  it("counts its requests and connections", async () => {
    await query(url);
    await until(async () => {
      const text = await (await fetch(`http://127.0.0.1:${ports.metrics}/metrics`)).text();
      const sampleOf = (sample: string): number =>
        Number(
          text
            .split("\n")
            .find((line) => line.startsWith(`${sample} `))
            ?.split(" ")
            .at(-1) ?? 0,
        );
      const isCounted =
        sampleOf("rpc_graphql_connections") > 0 &&
        sampleOf('besu_rpc_request_time_count{methodName="graphql"}') > 0;
      return isCounted ? true : undefined;
    }, "the metrics of GraphQL");
  });
});

it("a node without GraphQL has no port for it", async () => {
  const node = await startNodeProcess();
  onTestFinished(node.kill);
  expect(portsOf(node)).not.toContain("graphql");
  expect(node.output()).not.toContain("GraphQL");
  expect(await node.stop()).toBe(0);
});

describe("tokens for GraphQL", () => {
  const FOLDER = temporaryFolder();
  const users = join(FOLDER, "users.toml");
  const config = join(FOLDER, "node.toml");
  const userNamed = (name: string, permission: string): string =>
    `[Users.${name}]\npassword = "${hashSync(name, 4)}"\npermissions = ["${permission}"]\n`;

  function configure(origin: string): void {
    writeFileSync(
      config,
      [
        `genesis-file=${JSON.stringify(DEV_GENESIS_FILE)}`,
        `node-private-key-file=${JSON.stringify(DEV_VALIDATOR_KEY_FILE)}`,
        "p2p-enabled=false",
        "rpc-http-enabled=true",
        "rpc-http-authentication-enabled=true",
        `rpc-http-authentication-credentials-file=${JSON.stringify(users)}`,
        'rpc-http-api-methods-no-auth=["eth_blockNumber"]',
        "graphql-http-enabled=true",
        `graphql-http-cors-origins=["${origin}"]`,
      ].join("\n"),
    );
  }

  async function tokenFrom(url: string, name: string): Promise<Readonly<Record<string, string>>> {
    const body = JSON.stringify({ username: name, password: name });
    const response = await fetch(`${url}/login`, { method: "POST", body });
    const { token } = (await response.json()) as { readonly token: string };
    return { authorization: `Bearer ${token}` };
  }

  itIfThorough("are those of HTTP, and what the operator changes counts after SIGHUP", async () => {
    writeFileSync(users, userNamed("reader", "eth:*") + userNamed("caller", "eth:call"));
    configure("http://a.example");
    const port = await freePort();
    const node = await startNodeProcess({
      options: [`--config-file=${config}`, `--graphql-http-port=${port}`],
    });
    onTestFinished(node.kill);
    const server = `http://127.0.0.1:${port}`;
    const url = `${server}/graphql`;
    expect(await query(url)).toMatchObject({ status: 401, text: expect.stringContaining("Unauthorized") });
    for (const place of [server, node.httpUrl]) {
      expect(await query(url, await tokenFrom(place, "reader"))).toMatchObject(ANSWERED);
      expect(await query(url, await tokenFrom(place, "caller"))).toMatchObject({ status: 401 });
    }
    const token = await tokenFrom(server, "reader");
    const call = { method: "POST", headers: token, body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}' };
    expect(await (await fetch(node.httpUrl, call)).json()).toMatchObject({ result: "0x539" });

    expect((await query(url, { ...token, origin: "http://b.example" })).status).toBe(403);
    configure("http://b.example");
    node.child.kill("SIGHUP");
    await until(
      async () => (node.output().includes("graphql-http-cors-origins=http://b.example") ? true : undefined),
      "an answer to SIGHUP",
    );
    await until(
      async () =>
        (await query(url, { ...token, origin: "http://b.example" })).status === 200 ? true : undefined,
      "the other origin being allowed",
    );
    expect((await query(url, { ...token, origin: "http://a.example" })).status).toBe(403);
    expect(await node.stop()).toBe(0);
  });
});

itIfThorough("GraphQL with TLS is answered over https", async () => {
  const { certificate, certificateFile, keyFile } = aCertificateFor("localhost");
  const port = await freePort();
  const node = await startNodeProcess({
    options: [
      "--graphql-http-enabled",
      `--graphql-http-port=${port}`,
      "--graphql-http-tls-enabled",
      `--graphql-http-tls-certificate-file=${certificateFile}`,
      `--graphql-http-tls-key-file=${keyFile}`,
    ],
  });
  onTestFinished(node.kill);
  const path = `/graphql?query=${encodeURIComponent(QUERY)}`;
  const text = await new Promise<string>((resolve, reject) => {
    get({ host: "127.0.0.1", servername: "localhost", port, path, ca: certificate }, (response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => {
        body += chunk.toString("utf8");
      });
      response.on("end", () => resolve(body));
    }).on("error", reject);
  });
  expect(text).toContain('"gasPrice" : "0x');
  expect((await query(`http://127.0.0.1:${port}/graphql`)).status).toBe(400);
  expect(await node.stop()).toBe(0);
});
