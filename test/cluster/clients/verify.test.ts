import { execFile } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import solc from "solc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEV_ACCOUNTS } from "../../../src/config/devNetwork.ts";
import { LEDGER_SOURCE } from "../../contracts/compile.ts";
import { HANG_MS } from "../../hang.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { foundryBinary, writeFoundryProject } from "../harness/foundryProject.ts";
import { freePort, type NodeProcess, startNodeProcess, temporaryFolder } from "../harness/nodeProcess.ts";

/**
 * A node verifies what forge has deployed, from the build file that forge wrote, sent as verifiers of Etherscan's kind take it.
 * `forge verify-contract` would first download a list of compilers.
 */

const forge = foundryBinary("forge");
const [, , , , , , account] = DEV_ACCOUNTS;
const VERSION = `v${solc.version().split(".Emscripten")[0]}`;

describe.skipIf(!IS_THOROUGH || forge === undefined)("a contract that forge has deployed", () => {
  let node: NodeProcess;
  let project: string;
  let api: string;

  beforeAll(async () => {
    project = writeFoundryProject({ "src/Ledger.sol": LEDGER_SOURCE });
    const compilers = temporaryFolder();
    const soljson = createRequire(import.meta.url).resolve("solc/soljson.js");
    copyFileSync(soljson, join(compilers, `soljson-${VERSION}.js`));
    const port = await freePort();
    api = `http://127.0.0.1:${port}/api`;
    node = await startNodeProcess({
      options: [
        "--explorer-enabled=true",
        `--explorer-port=${port}`,
        `--explorer-verify-compilers=${compilers}`,
        "--explorer-verify-on-validators=true",
      ],
    });
  });

  afterAll(async () => {
    expect(await node?.stop()).toBe(0);
  });

  const run = async (...args: string[]): Promise<string> => {
    const env = { ...process.env, NO_COLOR: "1", ETH_RPC_URL: node.httpUrl, HOME: project };
    const { stdout } = await promisify(execFile)(forge as string, args, { cwd: project, env });
    return stdout;
  };

  it("is verified by its build file, and the node then has its sources", async () => {
    const key = ["--private-key", account?.privateKey ?? "", "--broadcast", "--json"];
    const args = ["create", "src/Ledger.sol:Ledger", ...key, "--constructor-args", "5"];
    const { deployedTo } = JSON.parse(await run(...args)) as { readonly deployedTo: string };
    await run("build", "--build-info", "--force");
    const folder = join(project, "out", "build-info");
    const [file = ""] = readdirSync(folder);
    const { input } = JSON.parse(readFileSync(join(folder, file), "utf8"));
    const sourceCode = JSON.stringify(input);
    const body = new URLSearchParams({
      apikey: "none",
      module: "contract",
      action: "verifysourcecode",
      contractaddress: deployedTo,
      sourceCode,
      codeformat: "solidity-standard-json-input",
      contractname: "src/Ledger.sol:Ledger",
      compilerversion: VERSION,
    });
    const asked = await (await fetch(api, { method: "POST", body })).json();
    expect(asked).toMatchObject({ status: "1" });
    const query = `module=contract&action=checkverifystatus&guid=${asked.result}`;
    const outcome = async () => (await (await fetch(`${api}?${query}`)).json()).result as string;
    await expect.poll(outcome, { timeout: HANG_MS }).not.toBe("Pending in queue");
    expect(await outcome()).toBe("Pass - Verified");
    const response = await fetch(`${api}?module=contract&action=getsourcecode&address=${deployedTo}`);
    expect(await response.json()).toMatchObject({
      status: "1",
      result: [{ ContractName: "Ledger", CompilerVersion: VERSION, Match: "exact" }],
    });
  });
});
