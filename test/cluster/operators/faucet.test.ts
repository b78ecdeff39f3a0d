import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DEV_ACCOUNTS } from "../../../src/config/devNetwork.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { accountFromSeed } from "../../builders/testAccounts.ts";
import { ibexHere } from "../../cli/program.ts";
import { itIfThorough } from "../../thorough.ts";
import { logOf, type NodeProcess, startNodeProcess, temporaryFolder, until } from "../harness/nodeProcess.ts";

const RECIPIENT = toHex(accountFromSeed(77).address);
const ETHER = 10n ** 18n;

function urlOf({ dataPath }: NodeProcess): string {
  const [, port] = /explorer=(\d+)/.exec(readFileSync(join(dataPath, "besu.ports"), "utf8")) ?? [];
  return `http://127.0.0.1:${port}/api/faucet`;
}

const ask = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

itIfThorough(
  "the faucet of the development network gives once to requests that come at once, also after a restart",
  async () => {
    const dataPath = temporaryFolder();
    const node = await startNodeProcess({
      dataPath,
      options: ["--explorer-port=0", "--faucet-address-cooldown-seconds=3600"],
    });
    const url = urlOf(node);
    expect(await (await fetch(url)).json()).toMatchObject({
      amount: `0x${ETHER.toString(16)}`,
      addressCooldownSeconds: 3600,
    });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        ask(url, { address: RECIPIENT }, { "x-forwarded-for": `198.51.100.${index}` }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(429)]);
    const refusal = answers.find(({ status }) => status === 429);
    expect(Number(refusal?.headers.get("retry-after"))).toBeGreaterThan(3000);
    const balance = async () => BigInt(await node.rpc<string>("eth_getBalance", [RECIPIENT, "latest"]));
    await until(async () => ((await balance()) > 0n ? true : undefined), "the gift");
    expect(await balance()).toBe(ETHER);

    const hostile: [string, Record<string, string>, number][] = [
      ["{}", {}, 400],
      ["null", {}, 400],
      ["[", {}, 400],
      [`{"address":{"toString":1}}`, {}, 400],
      [`{"address":"${"0x".padEnd(2000, "1")}"}`, {}, 400],
      [`{"address":"0x12"}`, {}, 400],
      [JSON.stringify({ address: RECIPIENT }), { "content-type": "text/plain" }, 415],
      [JSON.stringify({ address: RECIPIENT }), { origin: "http://elsewhere.example" }, 403],
    ];
    for (const [body, headers, status] of hostile)
      expect([body, (await ask(url, body, headers)).status]).toEqual([body, status]);
    expect((await fetch(url, { method: "PUT" })).status).toBe(405);
    const logged = [logOf(node)];
    await node.kill();

    const again = await startNodeProcess({
      dataPath,
      options: ["--explorer-port=0", "--faucet-address-cooldown-seconds=3600"],
    });
    expect((await ask(urlOf(again), { address: RECIPIENT })).status).toBe(429);
    expect(await again.stop()).toBe(0);
    const lines = JSON.stringify([...logged, logOf(again)]);
    expect(lines).toContain("the faucet sent a gift");
    expect(lines).not.toContain(DEV_ACCOUNTS.at(-1)?.privateKey.slice(2));
  },
);

it("the faucet is off unless asked for, needs a key, and refuses the main network unless it is meant", async () => {
  const folder = temporaryFolder();
  const [genesisFile, keyFile] = [join(folder, "genesis.json"), join(folder, "faucet.key")];
  const genesis = JSON.parse(readFileSync("genesis/dev.json", "utf8"));
  writeFileSync(genesisFile, JSON.stringify({ ...genesis, config: { ...genesis.config, chainId: 7171 } }));
  writeFileSync(keyFile, "1234");
  const check = async (...lines: readonly string[]) => {
    const file = join(folder, "node.toml");
    writeFileSync(file, [`genesis-file="${genesisFile}"`, "explorer-enabled=true", ...lines].join("\n"));
    const { exitCode, output, errors } = await ibexHere(["validate-config", `--config-file=${file}`]);
    return [exitCode, output + errors];
  };
  expect(await check("faucet-enabled=true")).toEqual([
    2,
    expect.stringContaining("--faucet-enabled needs the key of the account that gives"),
  ]);
  const withKey = ["faucet-enabled=true", `faucet-key-file="${keyFile}"`];
  expect(await check(...withKey)).toEqual([
    2,
    expect.stringContaining("faucet.key does not hold a private key of 64 hexadecimal digits"),
  ]);
  writeFileSync(keyFile, "11".repeat(32));
  expect(await check(...withKey)).toEqual([
    2,
    expect.stringContaining("the coin of the main network 7171 away"),
  ]);
  expect(await check(...withKey, "faucet-on-main-network=true")).toEqual([0, expect.any(String)]);
});
