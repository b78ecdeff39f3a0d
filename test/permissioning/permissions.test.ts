import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseEnode } from "../../src/config/enode.ts";
import { nodeListKind } from "../../src/config/permissionSettings.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import type { Allowlist } from "../../src/permissioning/allowlist.ts";
import { openPermissions, type Permissions } from "../../src/permissioning/permissions.ts";
import { writeListedTexts } from "../../src/permissioning/permissionsFile.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { aRegistry, readSample } from "../observability/aRegistry.ts";
import { describeWithVectors, vectorPath } from "../vectors.ts";

const folder = mkdtempSync(join(tmpdir(), "ibex-permissions-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const A = `0x${"aa".repeat(20)}`;
const B = `0x${"bb".repeat(20)}`;
const C = `0x${"cc".repeat(20)}`;
const NODE = `enode://${"12".repeat(64)}@127.0.0.1:30303`;

let files = 0;
function fileOf(text: string): string {
  const path = join(folder, `permissions-${files++}.toml`);
  writeFileSync(path, text);
  return path;
}

function open(path: string, { nodes = false } = {}) {
  return openPermissions(
    { accountsFile: path, nodesFile: nodes ? path : undefined },
    { nodeKind: nodeListKind({ hostNames: "none" }), logger: silentLogger },
  );
}

function opened(path: string, asked = {}): Permissions & { readonly accounts: Allowlist } {
  const result = open(path, asked);
  if (!result.ok) throw new Error(result.error.message);
  return { ...result.value, accounts: expectDefined(result.value.accounts, "the account list") };
}

function codeOf(result: ReturnType<Allowlist["add"]>): string {
  return result.ok ? "done" : result.error.code;
}

describe("a node allowlist", () => {
  it("keeps maintained peers on the list", () => {
    const path = fileOf(`nodes-allowlist=["${NODE}"]`);
    const enode = parseEnode(NODE);
    if (!enode.ok) throw new Error(enode.error.message);
    const nodeKind = nodeListKind({ hostNames: "none", maintained: () => [enode.value] });
    const permissions = openPermissions(
      { accountsFile: undefined, nodesFile: path },
      { nodeKind, logger: silentLogger },
    );
    if (!permissions.ok) throw new Error(permissions.error.message);
    const nodes = expectDefined(permissions.value.nodes, "the node list");
    expect(codeOf(nodes.remove([NODE]))).toBe("fixed");
    expect(nodes.has(NODE)).toBe(true);
  });
});

describe("an account allowlist", () => {
  it("permits only the accounts in its file, in any letter case", () => {
    const { accounts, isSenderPermitted } = opened(
      fileOf(`accounts-allowlist=["${A.toUpperCase().replace("0X", "0x")}"]`),
    );
    expect(accounts.items).toEqual([A]);
    expect(isSenderPermitted(addressFromHex(A))).toBe(true);
    expect(isSenderPermitted(addressFromHex(B))).toBe(false);
  });

  it("permits no account when it is empty, and accepts duplicates in the file", () => {
    expect(opened(fileOf("accounts-allowlist=[]")).isSenderPermitted(addressFromHex(A))).toBe(false);
    expect(opened(fileOf(`accounts-allowlist=["${A}","${A}"]`)).accounts.items).toEqual([A]);
  });

  it("permits every account when there is no list", () => {
    const result = openPermissions(
      { accountsFile: undefined, nodesFile: undefined },
      { nodeKind: nodeListKind({ hostNames: "none" }), logger: silentLogger },
    );
    expect(result.ok && result.value.isSenderPermitted(addressFromHex(A))).toBe(true);
  });

  it("is changed in memory and in the file, where the next start reads it", () => {
    const path = fileOf(`accounts-allowlist=["${A}"]\n`);
    const { accounts, isSenderPermitted } = opened(path);
    expect(codeOf(accounts.add([B.replaceAll("b", "B"), C]))).toBe("done");
    expect(accounts.items).toEqual([A, B, C]);
    expect(isSenderPermitted(addressFromHex(B))).toBe(true);
    expect(codeOf(accounts.remove([A, C]))).toBe("done");
    expect(readFileSync(path, "utf8")).toBe(`accounts-allowlist=["${B}"]\n`);
    expect(opened(path).accounts.items).toEqual([B]);
  });

  it.each<["add" | "remove", readonly string[], string]>([
    ["add", [], "empty"],
    ["remove", [], "empty"],
    ["add", [B, "0x12"], "invalid"],
    ["add", ["bb".repeat(20)], "invalid"],
    ["add", [""], "invalid"],
    ["remove", ["0xfoo", "0xfoo"], "invalid"],
    ["add", [B, B.replace("bb", "BB")], "duplicate"],
    ["add", [B, A], "exists"],
    ["remove", [A, B], "absent"],
  ])("refuses to %s %j: %s, and nothing has changed", (change, texts, code) => {
    const path = fileOf(`accounts-allowlist=["${A}"]`);
    const { accounts } = opened(path);
    expect(codeOf(accounts[change](texts))).toBe(code);
    expect(accounts.items).toEqual([A]);
    expect(readFileSync(path, "utf8")).toBe(`accounts-allowlist=["${A}"]`);
  });

  it("is changed in memory only when the file was changed in the meantime", () => {
    const path = fileOf(`accounts-allowlist=["${A}"]`);
    const { accounts } = opened(path);
    writeFileSync(path, `accounts-allowlist=["${C}"]`);
    expect(codeOf(accounts.add([B]))).toBe("outOfSync");
    expect(accounts.items).toEqual([A, B]);
    expect(readFileSync(path, "utf8")).toBe(`accounts-allowlist=["${C}"]`);
  });

  it("stays unchanged when the file is missing", () => {
    const path = fileOf(`accounts-allowlist=["${A}"]`);
    const { accounts } = opened(path);
    rmSync(path);
    expect(codeOf(accounts.add([B]))).toBe("notPersisted");
    expect(accounts.items).toEqual([A]);
  });
});

describe("the file of the lists", () => {
  it("keeps all other contents", () => {
    const path = fileOf(
      `# Who may send\naccounts-allowlist=[ # since May\n  "${A}",\n  "${B}"\n]\n\n# Peers\nnodes-allowlist=["${NODE}"]\nother=1\n`,
    );
    const { accounts, nodes } = opened(path, { nodes: true });
    expect(codeOf(accounts.remove([A]))).toBe("done");
    expect(readFileSync(path, "utf8")).toBe(
      `# Who may send\n\n# Peers\nnodes-allowlist=["${NODE}"]\nother=1\naccounts-allowlist=["${B}"]\n`,
    );
    expect(codeOf(expectDefined(nodes, "the nodes").remove([NODE]))).toBe("done");
    expect(readFileSync(path, "utf8")).toBe(
      `# Who may send\n\n# Peers\nother=1\naccounts-allowlist=["${B}"]\nnodes-allowlist=[]\n`,
    );
  });

  it("keeps only the other list when a line at the end would belong to a table", () => {
    const path = fileOf(`accounts-allowlist=["${A}"]\nnodes-allowlist=["${NODE}"]\n[more]\nx=1\n`);
    const { accounts } = opened(path);
    expect(codeOf(accounts.add([B]))).toBe("done");
    expect(readFileSync(path, "utf8")).toBe(
      `nodes-allowlist=["${NODE}"]\naccounts-allowlist=["${A}","${B}"]\n`,
    );
  });

  it("is replaced atomically with its mode, also behind a link, and leaves no temporary file", () => {
    const home = join(folder, "linked");
    mkdirSync(home);
    const target = join(home, "real.toml");
    writeFileSync(target, `accounts-allowlist=["${A}"]`);
    chmodSync(target, 0o640);
    const link = join(home, "permissions_config.toml");
    symlinkSync(target, link);
    const before = statSync(target).ino;
    expect(codeOf(opened(link).accounts.add([B]))).toBe("done");
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(statSync(target).ino).not.toBe(before);
    expect(statSync(target).mode & 0o777).toBe(0o640);
    expect(readdirSync(home).sort()).toEqual(["permissions_config.toml", "real.toml"]);
  });

  it("is reloaded on request, both lists or neither", () => {
    const path = fileOf(`accounts-allowlist=["${A}"]\nnodes-allowlist=["${NODE}"]`);
    const permissions = opened(path, { nodes: true });
    writeFileSync(path, `accounts-allowlist=["${B}"]\nnodes-allowlist=[]`);
    expect(permissions.reload()).toMatchObject({
      value: [
        { key: "accounts-allowlist", added: 1, removed: 1 },
        { key: "nodes-allowlist", added: 0, removed: 1 },
      ],
    });
    expect(permissions.reload()).toMatchObject({ value: [] });
    expect(permissions.accounts.items).toEqual([B]);
    expect(permissions.nodes?.items).toEqual([]);
    writeFileSync(path, `accounts-allowlist=["${C}"]\nnodes-allowlist=["bob"]`);
    expect(permissions.reload().ok).toBe(false);
    expect(permissions.accounts.items).toEqual([B]);
    expect(permissions.nodes?.items).toEqual([]);
  });

  it.each([
    ["that does not exist", undefined, "no such file"],
    ["with a broken line", 'accounts-allowlist=\nx="', "(line 1, column 20)"],
    [
      "without the list",
      "nodes-allowlist=[]",
      "accounts-allowlist config option missing in TOML config file",
    ],
    [
      "with something else than a list",
      `accounts-allowlist="${A}"`,
      "accounts-allowlist must be a list of texts",
    ],
    ["with numbers in the list", "accounts-allowlist=[1]", "accounts-allowlist must be a list of texts"],
    [
      "with an invalid account",
      `accounts-allowlist=[\n"${A}",\n"0xfoo"]`,
      "Invalid account 0xfoo (accounts-allowlist in line 3 of",
    ],
    [
      "with an account without 0x",
      `accounts-allowlist=["${"aa".repeat(20)}"]`,
      `Invalid account ${"aa".repeat(20)}`,
    ],
  ])("%s is refused with the reason", (_, text, reason) => {
    const path = text === undefined ? join(folder, "absent.toml") : fileOf(text);
    const result = open(path);
    expect(result.ok ? "" : result.error.message).toContain(reason);
    expect(result.ok ? "" : result.error.message).toContain(path);
  });
});

describe("a permissions file with the lists' former names", () => {
  it("is read where the present name is missing, and written anew with that", () => {
    const path = fileOf(`accounts-whitelist=["${A}"]\nnodes-whitelist=[]\n`);
    expect(opened(path, { nodes: true }).accounts.items).toEqual([A]);
    writeListedTexts(path, "accounts-allowlist", []);
    expect(readFileSync(path, "utf8")).toBe("nodes-whitelist=[]\naccounts-allowlist=[]\n");
    expect(opened(fileOf(`accounts-whitelist=["${A}"]\naccounts-allowlist=[]`)).accounts.items).toEqual([]);
  });
});

describeWithVectors("Besu's permissions files", () => {
  const at = (name: string): string =>
    vectorPath("besu-core", "permissioning", `permissioning_config${name}.toml`);

  it.each([
    ["", 1, 2],
    ["_empty_allowlists", 0, 0],
    ["_whitelists", 1, 2],
  ])("permissioning_config%s.toml has %d accounts and %d nodes", (name, accounts, nodes) => {
    const permissions = opened(at(name), { nodes: true });
    expect(permissions.accounts.items).toHaveLength(accounts);
    expect(permissions.nodes?.items).toHaveLength(nodes);
  });

  it("permissioning_config_account_allowlist_only.toml is enough when nodes are not restricted", () => {
    expect(opened(at("_account_allowlist_only")).accounts.items).toEqual([`0x${"0".repeat(39)}9`]);
  });

  it.each([
    ["_absent_allowlists", "Invalid TOML configuration"],
    ["_invalid_account", "Invalid account 0xfoo (accounts-allowlist in line 3 of"],
    ["_invalid_enode", "Invalid node enode://bob@192.168.0.9:4567 (nodes-allowlist in line 4 of"],
    ["_account_allowlist_only", "nodes-allowlist config option missing"],
    ["_unrecognized_key", "accounts-allowlist config option missing"],
  ])("permissioning_config%s.toml is refused: %s", (name, reason) => {
    const result = open(at(name), { nodes: true });
    expect(result.ok ? "" : result.error.message).toContain(reason);
  });

  it.each([
    ["_node_allowlist_only", 1],
    ["_node_allowlist_only_multiline", 5],
  ])("permissioning_config%s.toml has %d nodes", (name, count) => {
    const result = openPermissions(
      { accountsFile: undefined, nodesFile: at(name) },
      { nodeKind: nodeListKind({ hostNames: "none" }), logger: silentLogger },
    );
    expect(result.ok && result.value.nodes?.items).toHaveLength(count);
  });

  it("permissioning_config_node_allowlist_with_dns.toml needs host names to be allowed", () => {
    const named = (hostNames: "none" | "known"): boolean =>
      openPermissions(
        { accountsFile: undefined, nodesFile: at("_node_allowlist_with_dns") },
        { nodeKind: nodeListKind({ hostNames }), logger: silentLogger },
      ).ok;
    expect(named("none")).toBe(false);
    expect(named("known")).toBe(true);
  });
});

it("a list of senders counts what it is asked, and its answers, as Besu does", async () => {
  const metrics = aRegistry();
  const result = openPermissions(
    { accountsFile: fileOf(`accounts-allowlist=["${A}"]`), nodesFile: undefined },
    { nodeKind: nodeListKind({ hostNames: "none" }), logger: silentLogger, metrics },
  );
  if (!result.ok) throw new Error(result.error.message);
  for (const asked of [A, A, B]) result.value.isSenderPermitted(addressFromHex(asked));
  const counted = await Promise.all(
    ["", "_permitted", "_unpermitted"].map((suffix) =>
      readSample(metrics, `besu_permissioning_account_local_check_count${suffix}_total`),
    ),
  );
  expect(counted).toEqual([3, 2, 1]);
});
