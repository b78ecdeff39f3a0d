import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { parseGenesis } from "../../src/chainspec/genesis.ts";
import { ibexHere } from "../cli/program.ts";
import { temporaryFolder } from "../cluster/harness/nodeProcess.ts";
import { hasNginx, nginxOptions } from "../cluster/harness/proxyProcess.ts";
import { readDocument, root } from "../docs/documents.ts";
import { isInstalled, saySkipped } from "./installed.ts";

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly working_dir?: string;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
  readonly read_only?: boolean;
}

const FOLDER = join(root, "config");
const compose = parse(readFileSync(join(FOLDER, "compose.yaml"), "utf8"), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const services = Object.entries(compose.services);
const nodes = services.filter(([name]) => /^(validator|follower)-\d$/.test(name));
const usual = nodes.filter(([, { profiles }]) => profiles === undefined).map(([name]) => name);

/** As a plugin of Docker, or Debian's older one; neither needs Docker's daemon for this. */
const program = [["docker", "compose"], ["docker-compose"]].find(([command = "", ...words]) => {
  const { status, stdout } = spawnSync(command, [...words, "version"], { encoding: "utf8" });
  return status === 0 && /compose/i.test(stdout);
});
if (program === undefined)
  saySkipped("compose's own check of config/compose.yaml", "docker compose", "docker-compose");
const hasHaproxy = isInstalled("haproxy", "-v");
if (!hasHaproxy) saySkipped("HAProxy's own check of config/haproxy.cfg", "haproxy", "haproxy");
if (!hasNginx) saySkipped("nginx's own check of config/nginx.conf", "nginx", "nginx-light");
const hasPromtool = isInstalled("promtool");

describe("config/compose.yaml", () => {
  it("has four validators and three followers, and one more follower for the explorer alone", () => {
    expect(usual).toEqual([
      ...[1, 2, 3, 4].map((number) => `validator-${number}`),
      ...[1, 2, 3].map((number) => `follower-${number}`),
    ]);
    expect(nodes.map(([name]) => name).filter((name) => !usual.includes(name))).toEqual(["follower-4"]);
  });

  it("lets each node start from the files that its first service makes, which nodes accept", async () => {
    const folder = temporaryFolder();
    const [script = ""] = compose.services["init"]?.command ?? [];
    const [, options = ""] = /ibex operator generate-blockchain-config (.*) &&/.exec(script) ?? [];
    const words = options
      .split(" ")
      .map((word) =>
        word
          .replace("=/config/network.json", `=${join(FOLDER, "network.json")}`)
          .replace("=/network", `=${join(folder, "network")}`),
      );
    const made = await ibexHere(["--logging=OFF", "operator", "generate-blockchain-config", ...words]);
    expect(made).toEqual({ exitCode: 0, output: "", errors: "" });
    const genesis = readFileSync(join(folder, "network", "genesis.json"), "utf8");
    expect(parseGenesis(genesis, "the genesis file").ok).toBe(true);
    for (const [name, { working_dir, volumes, command = [], read_only }] of nodes) {
      expect(working_dir).toBe(`/network/nodes/${name}`);
      expect(volumes).toEqual(["network:/network:ro", `${name}:/data`]);
      expect(read_only).toBe(true);
      const data = join(folder, "data");
      mkdirSync(data, { recursive: true });
      const here = command.map((option) => option.replace("=/data", `=${data}`));
      const checked = await ibexHere([...here, "validate-config"], {
        workingDirectory: join(folder, "network", "nodes", name),
      });
      expect(checked, name).toMatchObject({ exitCode: 0 });
    }
  });

  it("is reached from this machine alone, and has no secret", () => {
    const ports = services.flatMap(([, { ports: published = [] }]) => published);
    expect(ports.length).toBeGreaterThan(4);
    expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
    expect(readFileSync(join(FOLDER, "compose.yaml"), "utf8")).not.toMatch(/PASSWORD:|_KEY:|SECRET/);
  });

  it("mounts only files that are there and volumes that are declared", () => {
    const sources = services.flatMap(([, { volumes = [] }]) =>
      volumes.map((volume) => volume.split(":")[0] ?? ""),
    );
    const missing = sources.filter((source) =>
      source.startsWith("./") ? !existsSync(join(FOLDER, source)) : !(source in compose.volumes),
    );
    expect(missing).toEqual([]);
  });

  it("names images in full, so that no registry has to be guessed", () => {
    const foreign = services.map(([, { image }]) => image).filter((image) => !image.includes("ibex"));
    expect(foreign.filter((image) => !/(docker|ghcr)\.io\/[\w-]+\/[\w-]+:[\w.-]+\}?$/.test(image))).toEqual(
      [],
    );
  });

  it.skipIf(program === undefined)(
    "is valid to compose, and so is what generate-blockchain-config writes",
    async () => {
      const folder = temporaryFolder();
      const options = [`--config-file=${join(FOLDER, "network.json")}`, `--to=${join(folder, "network")}`];
      await ibexHere([
        "--logging=OFF",
        "operator",
        "generate-blockchain-config",
        ...options,
        "--hosts=127.0.0.1",
      ]);
      for (const file of [join(FOLDER, "compose.yaml"), join(folder, "network", "compose.yaml")]) {
        const [command = "", ...words] = program ?? [];
        const { status, stderr } = spawnSync(command, [...words, "-f", file, "config", "-q"], {
          encoding: "utf8",
        });
        expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      }
    },
  );
});

describe("config/prometheus.yml", () => {
  const { scrape_configs: [job] = [] } = parse(readDocument("config/prometheus.yml")) as {
    scrape_configs: readonly {
      job_name: string;
      static_configs: readonly { targets: readonly string[] }[];
    }[];
  };

  it("reads the nodes of config/compose.yaml, under the name of the job that the alerts expect", () => {
    expect(job?.job_name).toBe("ibex");
    expect(job?.static_configs[0]?.targets).toEqual(usual.map((name) => `${name}:9545`));
  });

  it.skipIf(!hasPromtool)("is valid to promtool", () => {
    const checked = spawnSync("promtool", ["check", "config", join(FOLDER, "prometheus.yml")], {
      encoding: "utf8",
    });
    expect({ status: checked.status, said: checked.stderr }).toEqual({ status: 0, said: "" });
  });
});

describe("config/haproxy.cfg", () => {
  const text = readDocument("config/haproxy.cfg");

  it("has the followers of config/compose.yaml in each backend, by the names and ports that they have there", () => {
    const followers = usual.filter((name) => name.startsWith("follower"));
    const servers = [...text.matchAll(/^ +server (\S+) "\$\{FOLLOWER_(\d)_(HTTP|WS)\}"/gm)];
    expect(servers.map(([, name, number]) => `${name} follower-${number}`)).toEqual(
      ["rpc", "ws", "rpc-standing", "ws-standing"].flatMap(() => followers.map((name) => `${name} ${name}`)),
    );
    for (const [index, name] of followers.entries()) {
      const variable = `FOLLOWER_${index + 1}`;
      expect(text).toContain(`presetenv ${variable} ${name}\n`);
      expect(text).toContain(`presetenv ${variable}_HTTP "\${${variable}}:8545"\n`);
      expect(text).toContain(`presetenv ${variable}_WS "\${${variable}}:8546"\n`);
    }
  });

  it("keeps a caller on its node over HTTP and WebSocket alike", () => {
    expect(text.match(/^ +stick on src( table rpc)?$/gm)).toHaveLength(2);
  });

  it.skipIf(!hasHaproxy)("is valid to HAProxy", () => {
    const here = Object.fromEntries([1, 2, 3].map((number) => [`FOLLOWER_${number}`, "127.0.0.1"]));
    const { status, stderr } = spawnSync("haproxy", ["-c", "-f", join(FOLDER, "haproxy.cfg")], {
      encoding: "utf8",
      env: { ...process.env, ...here },
    });
    expect({ status, alerts: /\[ALERT\]|\[WARNING\]/.test(stderr) ? stderr : "" }).toEqual({
      status: 0,
      alerts: "",
    });
  });
});

describe("config/nginx.conf", () => {
  it.skipIf(!hasNginx)("is valid to nginx, with the files that it includes", () => {
    const places = [1, 2, 3].map((number) => ({ httpPort: 18_000 + number, wsPort: 19_000 + number }));
    const { status, stderr } = spawnSync("nginx", ["-t", ...nginxOptions(places, [17_000])], {
      encoding: "utf8",
    });
    expect({ status, stderr }).toMatchObject({
      status: 0,
      stderr: expect.not.stringMatching(/\[(warn|emerg)\]/),
    });
  });

  it("asks nodes for their health as config/haproxy.cfg does, and has the same followers", () => {
    const text = readDocument("config/nginx.conf");
    expect(text).toContain("/readiness?minPeers=1&maxBlocksBehind=0&maxHeadAgeSeconds=");
    expect(readDocument("config/haproxy.cfg")).toContain("/readiness?minPeers=1&maxBlocksBehind=0&");
    const named = readDocument("config/nginx/followers.conf").match(/(?<=server )follower-\d:\d+/g);
    const followers = usual.filter((name) => name.startsWith("follower"));
    expect(named).toEqual(followers.flatMap((name) => [8545, 8546, 8545].map((port) => `${name}:${port}`)));
  });
});
