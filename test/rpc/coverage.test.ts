import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { DEVELOPMENT_METHODS, KNOWN_METHODS } from "../../src/rpc/knownMethods.ts";
import { METHODS } from "../../src/rpc/methods/registry.ts";
import { describeWithSheet, vectorPath } from "../vectors.ts";

/**
 * Every method that the interface document lists is declared, and is called in a conformance case: a recording of Besu, a
 * fixture of Besu, or a case of the standard. A method without such a case is called in a test named here.
 */

/** Tests that call a method, as a path below test/. */
const OWN_CASES: Readonly<Record<string, string>> = {
  debug_replayBlock: "cluster/recovery/rewind.test.ts",
  debug_resyncWorldState: "cluster/recovery/rewind.test.ts",
  debug_resyncWorldstate: "cluster/recovery/rewind.test.ts",
  debug_standardTraceBadBlockToFile: "rpc/methods/badBlocks.test.ts",
};

/** Besu's methods for other kinds of consensus, transactions and nodes. */
const OUT_OF_SCOPE = /^(clique|engine|priv|privx|eea|qbft)_|^eth_sendRawPrivateTransaction$/;

const declared = new Set(METHODS.flatMap(({ name, aliases = [] }) => [name, ...aliases]));

/** Added by the WebSocket server, because they need a connection. */
const SUBSCRIPTIONS = ["eth_subscribe", "eth_unsubscribe"];

/** Besu's name, used in the recordings, of a method that the document renamed. */
function recordedName(name: string): string {
  if (name === "debug_resyncWorldstate") return "debug_resyncWorldState";
  return name.replace("txpool_node", "txpool_besu");
}

describeWithSheet("the interface document's methods", "interface.md", (text) => {
  const listed = [
    ...text.matchAll(/^\| ([a-z0-9]+_[A-Za-z0-9]+)(?: \(alias ([a-zA-Z0-9_]+)\))? \|/gm),
  ].flatMap(([, name = "", alias]) => [name, ...(alias === undefined ? [] : [alias])]);

  it("are found in it", () => {
    expect(listed.length).toBeGreaterThan(80);
  });

  it("are all declared", () => {
    expect(listed.filter((name) => !declared.has(name))).toEqual([]);
  });

  it("are all called in a conformance case", () => {
    const called = calledMethods();
    const isCovered = (name: string) =>
      called.has(name) || called.has(recordedName(name)) || OWN_CASES[name] !== undefined;
    expect(listed.filter((name) => !isCovered(name))).toEqual([]);
  });
});

describe("Besu's methods", () => {
  it("are all declared, except those out of scope", () => {
    const missing = [...KNOWN_METHODS].filter(
      (name) => !declared.has(name) && !SUBSCRIPTIONS.includes(name) && !OUT_OF_SCOPE.test(name),
    );
    expect(missing).toEqual([]);
  });
});

describe("every method that is declared", () => {
  it("has a known name, so that an endpoint without its group says 'not enabled', or is of the development network alone", () => {
    // Besu's own table lacks this one too.
    const unknown = [...declared].filter((name) => !KNOWN_METHODS.has(name));
    expect(unknown.toSorted()).toEqual(["debug_accountRange", ...DEVELOPMENT_METHODS].toSorted());
  });
});

describe("our own cases", () => {
  it.each(Object.entries(OWN_CASES))("call %s", (name, file) => {
    const path = resolve(import.meta.dirname, "..", file);
    expect(existsSync(path)).toBe(true);
    expect(readFileSync(path, "utf8").toLowerCase()).toContain(`"${name.toLowerCase()}"`);
  });
});

/** Methods of all requests in the JSON-RPC vectors. */
function calledMethods(): ReadonlySet<string> {
  const methods = new Set<string>();
  const folders = [
    ...["net1", "net2", "net3"].map((network) => vectorPath("besu-ibft", network, "rpc")),
    vectorPath("besu-jsonrpc", "jsonrpc"),
    vectorPath("execution-apis"),
  ];
  for (const folder of folders) {
    for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      if (!/\.(json|json\.gz|io)$/.test(file)) continue;
      const bytes = readFileSync(join(folder, file));
      const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
      for (const [, name = ""] of text.matchAll(/"method": ?"([A-Za-z0-9_]+)"/g)) methods.add(name);
    }
  }
  return methods;
}
