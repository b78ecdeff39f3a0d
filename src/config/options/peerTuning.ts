import { distancesType } from "../peerTypes.ts";
import {
  countType,
  hostType,
  integerType,
  millisecondsType,
  pathType,
  secondsType,
  switchType,
  textType,
} from "../valueTypes.ts";
import { option, withoutEffect } from "./option.ts";

const group = "Peer-to-peer network";
const pace = withoutEffect({
  group,
  noEffect: "this node decides itself when to dial peers and request transactions",
});
const limits = withoutEffect({ group, noEffect: "the limits of messages between peers are fixed" });
const versions = withoutEffect({ group, noEffect: "all versions of eth that this node knows are offered" });
const downloads = withoutEffect({ group, noEffect: "requests adapt to what each peer delivers" });
const bytesType = integerType({ label: "<BYTES>", unit: "bytes", min: 1n });
const nameType = textType({ label: "<NAME>", accepts: "a name" });

const CONNECTION_OPTIONS = {
  "Xp2p-initiate-connections-frequency": pace.valued(secondsType, 30, "Interval between searches for peers."),
  "Xp2p-check-maintained-connections-frequency": pace.valued(
    secondsType,
    60,
    "Interval between attempts to dial static nodes that are not connected.",
  ),
  "Xp2p-dns-discovery-server": option({
    group,
    type: hostType,
    default: undefined,
    defaultText: "the system's",
    isHidden: true,
    help: "Name server for the lists of nodes in DNS.",
  }),
  "Xv5-discovery-enabled": withoutEffect({
    group,
    noEffect: "peers are found by discovery version 4",
  }).switched(false, "Search for peers by discovery version 5."),
  "Xdns-enabled": option({
    group,
    type: switchType,
    default: false,
    isHidden: true,
    help: "Allow host names in enode URLs.",
  }),
  "Xdns-update-enabled": option({
    group,
    type: switchType,
    default: false,
    isHidden: true,
    help: "Accept host names that cannot be resolved yet. This node resolves host names again in any case.",
  }),
  "Xnat-kube-service-name": withoutEffect({
    group,
    noEffect: "Kubernetes is not asked for an address; set --p2p-host",
  }).valued(nameType, "besu", "Kubernetes service that provides the external address."),
  "Xnat-method-fallback-enabled": option({
    group,
    type: switchType,
    default: true,
    isHidden: true,
    help: "Continue without NAT when its method fails.",
  }),
  "Xeth-max-message-size": limits.valued(bytesType, 10_485_760, "Maximum size of a peer's message."),
  "Xewp-max-get-headers": limits.valued(countType, 512, "Maximum number of headers in a response to a peer."),
  "Xewp-max-get-bodies": limits.valued(countType, 128, "Maximum number of bodies in a response to a peer."),
  "Xewp-max-get-receipts": limits.valued(
    countType,
    256,
    "Maximum number of receipt lists in a response to a peer.",
  ),
  "Xewp-max-get-node-data": limits.valued(
    countType,
    384,
    "Maximum number of trie nodes in a response to a peer.",
  ),
  "Xewp-max-get-pooled-transactions": limits.valued(
    countType,
    256,
    "Maximum number of transactions in a response to a peer.",
  ),
  "Xeth-capability-max": versions.valued(
    countType,
    2 ** 31 - 1,
    "Highest version of the eth protocol offered.",
    {
      defaultText: "no limit",
    },
  ),
  "Xeth-capability-min": versions.valued(countType, 0, "Lowest version of the eth protocol offered."),
  "Xincoming-tx-messages-keep-alive-seconds": pace.valued(
    integerType({ label: "<SECONDS>", unit: "seconds" }),
    60,
    "Age at which unread transaction announcements are dropped.",
  ),
  "Xeth65-tx-announced-buffering-period-milliseconds": pace.valued(
    millisecondsType,
    500,
    "Time to collect announced transactions before requesting them.",
  ),
} as const;

const DOWNLOAD_OPTIONS = {
  "Xsynchronizer-block-propagation-range": downloads.valued(
    distancesType,
    "-10..30",
    "Distances from the head at which announced blocks are considered.",
  ),
  "Xsynchronizer-downloader-change-target-threshold-by-height": downloads.valued(
    countType,
    200,
    "Lead in blocks that another peer needs to become the sync target.",
  ),
  "Xsynchronizer-downloader-header-request-size": downloads.valued(countType, 200, "Headers per request."),
  "Xsynchronizer-downloader-chain-segment-size": downloads.valued(countType, 200, "Bodies per request."),
  "Xsynchronizer-downloader-parallelism": downloads.valued(countType, 4, "Concurrent requests to peers."),
} as const;

const NO_CERTIFICATES = "connections to peers cannot be encrypted with certificates";
const tls = withoutEffect({ group, noEffect: NO_CERTIFICATES, requires: "Xp2p-tls-enabled" });

const TLS_OPTIONS = {
  "Xp2p-tls-enabled": option({
    type: switchType,
    default: false,
    group,
    isHidden: true,
    refusedWhenOn: NO_CERTIFICATES,
    help: "Encrypt connections to peers with certificates.",
  }),
  "Xp2p-tls-keystore-type": tls.optional(nameType, "Type of the key store."),
  "Xp2p-tls-keystore-file": tls.optional(pathType, "Key store."),
  "Xp2p-tls-keystore-password-file": tls.optional(pathType, "Password of the key store."),
  "Xp2p-tls-truststore-type": tls.optional(nameType, "Type of the trust store."),
  "Xp2p-tls-truststore-file": tls.optional(pathType, "Trust store."),
  "Xp2p-tls-truststore-password-file": tls.optional(pathType, "Password of the trust store."),
  "Xp2p-tls-crl-file": tls.optional(pathType, "Revoked certificates."),
  "Xp2p-tls-clienthello-sni": tls.switched(false, "Send the host name when dialling (SNI)."),
} as const;

export const PEER_TUNING_OPTIONS = { ...CONNECTION_OPTIONS, ...DOWNLOAD_OPTIONS, ...TLS_OPTIONS } as const;
