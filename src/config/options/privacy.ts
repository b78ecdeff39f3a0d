import { pathType, switchType, textType } from "../valueTypes.ts";
import { option, withoutEffect } from "./option.ts";

const group = "Privacy";
const NOT_PRIVATE = "private transactions do not exist here: what is sent would be visible to all";
const idle = withoutEffect({
  group,
  noEffect: "private transactions do not exist here",
  requires: "privacy-enabled",
});
const tls = withoutEffect({
  group,
  noEffect: "private transactions do not exist here",
  requires: "privacy-tls-enabled",
});
const pki = withoutEffect({ group, noEffect: "blocks signed with certificates belong to QBFT" });
const urlType = textType({ label: "<URL>", accepts: "a URL" });
const nameType = textType({ label: "<NAME>", accepts: "a name" });

export const PRIVACY_OPTIONS = {
  "privacy-enabled": option({
    type: switchType,
    default: false,
    group,
    isHidden: true,
    refusedWhenOn: NOT_PRIVATE,
    help: "Private transactions, through a service beside the node.",
  }),
  "privacy-url": idle.valued(urlType, "http://localhost:8888", "Address of that service."),
  "privacy-public-key-file": idle.optional(pathType, "Public key at that service."),
  "privacy-marker-transaction-signing-key-file": idle.optional(pathType, "Key that signs markers."),
  "privacy-multi-tenancy-enabled": idle.switched(false, "Serve several parties."),
  "privacy-flexible-groups-enabled": idle.switched(false, "Groups whose members change."),
  "privacy-enable-database-migration": idle.switched(false, "Convert an old database."),
  "privacy-tls-enabled": idle.switched(false, "Encrypt the connection to that service."),
  "privacy-tls-keystore-file": tls.optional(pathType, "Key store for it."),
  "privacy-tls-keystore-password-file": tls.optional(pathType, "Password of the key store."),
  "privacy-tls-known-enclave-file": tls.optional(pathType, "Fingerprint of the service."),
  "Xprivacy-plugin-enabled": option({
    type: switchType,
    default: false,
    group,
    isHidden: true,
    refusedWhenOn: NOT_PRIVATE,
    help: "Private transactions through a plugin.",
  }),
  "Xpki-block-creation-enabled": pki.switched(false, "Sign blocks with a certificate."),
  "Xpki-block-creation-keystore-type": pki.valued(nameType, "PKCS12", "Kind of the key store."),
  "Xpki-block-creation-keystore-file": pki.optional(pathType, "Key store."),
  "Xpki-block-creation-keystore-password-file": pki.optional(pathType, "Password of the key store."),
  "Xpki-block-creation-keystore-certificate-alias": pki.valued(
    nameType,
    "validator",
    "Name of the certificate.",
  ),
  "Xpki-block-creation-truststore-type": pki.valued(nameType, "PKCS12", "Kind of the trust store."),
  "Xpki-block-creation-truststore-file": pki.optional(pathType, "Trust store."),
  "Xpki-block-creation-truststore-password-file": pki.optional(pathType, "Password of the trust store."),
  "Xpki-block-creation-crl-file": pki.optional(pathType, "Certificates that count no more."),
} as const;
