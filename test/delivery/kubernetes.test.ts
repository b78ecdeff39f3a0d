import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { ibexHere } from "../cli/program.ts";
import { temporaryFolder } from "../cluster/harness/nodeProcess.ts";
import { root } from "../docs/documents.ts";

interface Probe {
  readonly httpGet: {
    readonly path: string;
    readonly port: number;
    readonly httpHeaders: readonly { readonly name: string; readonly value: string }[];
  };
}

interface Container {
  readonly args: readonly string[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
}

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data: Readonly<Record<string, string>>;
  readonly spec: {
    readonly serviceName: string;
    readonly replicas: number;
    readonly selector: { readonly matchLabels: object };
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly [Container];
        readonly volumes: readonly {
          readonly name: string;
          readonly configMap?: { readonly name: string };
        }[];
      };
    };
    readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
  };
}

/** A stop takes that long under load (docs/operating.md). */
const STOP_SECONDS = 20;

const resources = parseAllDocuments(readFileSync(join(root, "config", "kubernetes.yaml"), "utf8")).map(
  (document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Resource;
  },
);
const sets = resources.filter(({ kind }) => kind === "StatefulSet");
const named = (name: string): Resource | undefined =>
  resources.find(({ metadata }) => metadata.name === name);

describe("config/kubernetes.yaml", () => {
  it("has followers, and a validator that runs once", () => {
    expect(sets.map(({ metadata, spec }) => [metadata.name, spec.replicas])).toEqual([
      ["follower", 3],
      ["validator-1", 1],
    ]);
  });

  it.each(sets)(
    "mounts in $metadata.name only volumes that are declared, and gives its pods the selected labels",
    ({ spec }) => {
      const { containers, volumes } = spec.template.spec;
      const declared = [
        ...volumes.map(({ name }) => name),
        ...spec.volumeClaimTemplates.map(({ metadata }) => metadata.name),
      ];
      expect(containers[0].volumeMounts.map(({ name }) => name).sort()).toEqual(declared.sort());
      expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
      expect(named(spec.serviceName)?.kind).toBe("Service");
    },
  );

  it.each(sets)(
    "probes $metadata.name by the paths that nodes have, and leaves it time for a stop",
    ({ spec }) => {
      const { containers, terminationGracePeriodSeconds } = spec.template.spec;
      const [{ startupProbe, livenessProbe, readinessProbe, lifecycle }] = containers;
      const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => {
        expect(httpGet.port).toBe(8545);
        expect(httpGet.httpHeaders).toEqual([{ name: "Host", value: "localhost" }]);
        return httpGet.path;
      });
      expect(paths).toEqual([
        "/liveness",
        "/liveness",
        "/readiness?minPeers=1&maxBlocksBehind=2&maxHeadAgeSeconds=30",
      ]);
      const [, sleep = "0"] = lifecycle?.preStop.exec.command ?? [];
      expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(STOP_SECONDS + Number(sleep) + 10);
    },
  );

  it.each(sets)("configures $metadata.name as the node accepts it", async ({ spec }) => {
    const config = spec.template.spec.volumes.find(({ name }) => name === "config")?.configMap?.name ?? "";
    const folder = temporaryFolder();
    mkdirSync(join(folder, "data"));
    mkdirSync(join(folder, "key"));
    const request = [
      `--config-file=${join(root, "config", "network.json")}`,
      `--to=${join(folder, "network")}`,
    ];
    expect(
      await ibexHere([
        "--logging=OFF",
        "operator",
        "generate-blockchain-config",
        ...request,
        "--followers=1",
      ]),
    ).toMatchObject({ exitCode: 0 });
    writeFileSync(join(folder, "key", "key"), "11".repeat(32), { mode: 0o600 });
    const here = (named(config)?.data["node.toml"] ?? "")
      .replace("/network/genesis.json", join(folder, "network", "genesis.json"))
      .replace("/network/static", join(folder, "network", "nodes", "follower-1", "static"))
      .replace('"/data"', `"${join(folder, "data")}"`)
      .replace('"/key/key"', `"${join(folder, "key", "key")}"`);
    writeFileSync(join(folder, "node.toml"), here);
    const checked = await ibexHere(["--config-file=node.toml", "validate-config"], {
      workingDirectory: folder,
    });
    expect(checked).toMatchObject({ exitCode: 0, errors: "" });
    // Else what a client offers, by the answers of one node, would wait forever at another.
    const made = readFileSync(join(folder, "network", "nodes", "follower-1", "node.toml"), "utf8");
    expect(floorIn(here)).toBe(floorIn(made));
  });
});

function floorIn(configuration: string): string | undefined {
  return /^min-gas-price = .*$/m.exec(configuration)?.[0];
}
