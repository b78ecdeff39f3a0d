import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineMethod, type RpcMethod } from "../../src/rpc/method.ts";
import { METHODS } from "../../src/rpc/methods/registry.ts";
import { aChainSpec } from "../builders/anRpcBackend.ts";
import { aStoredBlock } from "../builders/aStoredBlock.ts";
import { chainOf } from "../builders/recordedChain.ts";
import { requesterFor } from "./requester.ts";

const folder = join(import.meta.dirname, "../../src/rpc/methods");
const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ file: basename(name), text: readFileSync(join(folder, name), "utf8") }));

/** Each call of defineMethod, up to the bracket that closes it, with the ports that it names. */
const definitions = sources.flatMap(({ file, text }) =>
  [...text.matchAll(/^( *).*defineMethod\(\{\n([\s\S]*?)^\1\}\);/gm)].map(([, , written = ""]) => {
    const [list = "", names = ""] = /^ *ports: \[([^\]]*)\],$/m.exec(written) ?? [];
    return {
      name: /name: (.*),/.exec(written)?.[1] ?? file,
      ports: [...names.matchAll(/"(\w+)"/g)].map(([, port = ""]) => port),
      body: written.replace(list, ""),
      text,
    };
  }),
);

/** Helpers of methods that sign and send. */
const signing = join(folder, "../signing");
const HELPERS = readdirSync(signing)
  .map((name) => readFileSync(join(signing, name), "utf8"))
  .join("");

/** As many as eth_fillTransaction names. Few, so that it shows when a method asks for much of the node. */
const MOST_PORTS = 5;

/** Methods of development networks that fill in transactions, and sign them; they send them, wait, or put them into blocks, too. */
const FULL_SERVICE = new Set([
  "HARDHAT eth_sendTransaction",
  "HARDHAT eth_signTransaction",
  "HARDHAT eth_fillTransaction",
  "ANVIL anvil_reorg",
]);

function helpersOf(text: string): string {
  return text.includes("/signing/") ? HELPERS : "";
}

const ABOUT = { namespace: "ETH", summary: "", parameters: [], result: { name: "", schema: {} } } as const;

describe("the ports of a method", () => {
  it("are read from the definitions of all methods", () => {
    const named = new Set(METHODS.flatMap(({ ports = [] }) => ports));
    expect(new Set(definitions.flatMap(({ ports }) => ports))).toEqual(named);
    // Three definitions are in functions that make two, two and four methods (admin/peers.ts, perm/allowlists.ts).
    expect(definitions.length).toBe(METHODS.length - 5);
  });

  it("are used by the method, or by a helper that takes them", () => {
    const unused = definitions.flatMap(({ name, ports, body, text }) =>
      ports
        .filter((port) => !new RegExp(`\\b${port}\\b`).test(body))
        .filter((port) => !new RegExp(`(ContextOf|Pick)<[^>]*"${port}"`).test(text + helpersOf(text)))
        .map((port) => `${name}: ${port}`),
    );
    expect(unused).toEqual([]);
  });

  it("are never all of them: no method or helper takes the whole backend", () => {
    for (const { file, text } of sources)
      expect(text.replace(/Pick<Rpc(Backend|Ports),/g, ""), file).not.toMatch(
        /\bRpc(Backend|Ports)\b(?! *[,}])/,
      );
    for (const { name, namespace, ports = [] } of METHODS)
      if (!FULL_SERVICE.has(`${namespace} ${name}`))
        expect(ports.length, name).toBeLessThanOrEqual(MOST_PORTS);
  });

  it("are all that it gets, and all that a test of it must build", async () => {
    const method = defineMethod({
      ...ABOUT,
      name: "toy_chain_id",
      ports: ["spec"],
      run: (_, { backend }) => backend.spec.chainId > 0n,
    });
    expect(
      await requesterFor([method], {
        spec: aChainSpec(chainOf([aStoredBlock()]), { chainId: 7n, fork: "london" }),
      })("toy_chain_id"),
    ).toBe(true);
    // @ts-expect-error: the method does not name the chain.
    defineMethod({ ...ABOUT, name: "toy_head", run: (_, { backend }) => `${backend.chain.head}` });
    // @ts-expect-error: the backend has no such port.
    defineMethod({ ...ABOUT, name: "toy_nothing", ports: ["nothing"], run: () => null });
    // @ts-expect-error: the ports of the method are missing.
    const _unserved: RpcMethod<object> = method;
    const served: RpcMethod = method;
    expect(served.ports).toEqual(["spec"]);
  });
});
