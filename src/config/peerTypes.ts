import { isIP } from "node:net";
import { parseTreeUrl } from "../network/discovery/treeUrl.ts";
import { parseHex, toHex } from "../primitives/hex.ts";
import { ok } from "../primitives/result.ts";
import { bad, listType, type ValueType } from "./valueTypes.ts";

const nodeIdType: ValueType<Uint8Array> = {
  arity: "single",
  label: "<NODE ID>",
  accepts: "node ids of 128 hexadecimal digits",
  read: (text) => {
    const bytes = parseHex(text);
    return bytes?.length === 64 ? ok(bytes) : bad(`Invalid node ID '${text}'`);
  },
  show: toHex,
};

export const nodeIdsType = listType(nodeIdType, "<NODE ID,...>");

/** A range of addresses in CIDR notation; "none" appears in Besu's example files. */
const subnetType: ValueType<string> = {
  arity: "single",
  label: "<SUBNET>",
  accepts: "subnets such as 10.0.0.0/8, or none",
  offers: ["none"],
  read: (text) => {
    if (text === "none") return ok(text);
    const [, address = "", bits = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
    const version = isIP(address);
    const isSubnet = version !== 0 && Number(bits) <= (version === 4 ? 32 : 128);
    return isSubnet ? ok(text) : bad(`'${text}' is not a subnet in CIDR notation`);
  },
  show: String,
};

export const subnetsType = listType(subnetType, "<SUBNET,...>");

/** The URL of a list of nodes in DNS. */
export const treeUrlType: ValueType<string> = {
  arity: "single",
  label: "<URL>",
  accepts: "an enrtree URL",
  read: (text) => {
    const tree = parseTreeUrl(text);
    return tree.ok ? ok(text) : bad(`'${text}' is not an enrtree URL: ${tree.error.message}`);
  },
  show: String,
};

/** A range of block distances from the head, such as -10..30. */
export const distancesType: ValueType<string> = {
  arity: "single",
  label: "<FROM..TO>",
  accepts: "two whole numbers with .. between them, such as -10..30",
  read: (text) => {
    const [, from, to] = /^(-?\d{1,9})\.\.(-?\d{1,9})$/.exec(text) ?? [];
    const isRange = from !== undefined && Number(from) <= Number(to);
    return isRange ? ok(text) : bad(`'${text}' is not a range`);
  },
  show: String,
};
