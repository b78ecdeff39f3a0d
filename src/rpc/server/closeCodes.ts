/** Codes with which a WebSocket connection is closed (RFC 6455, section 7.4.1). */
export const GOING_AWAY = 1001;
export const POLICY_VIOLATION = 1008;
export const MESSAGE_TOO_BIG = 1009;
export const TRY_AGAIN_LATER = 1013;
