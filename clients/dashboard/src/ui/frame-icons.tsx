import type { ReactNode } from 'react';

/** Line icons on a grid of 24, drawn here. They say nothing to screen readers: a text stands beside each. */
export function icon(paths: ReactNode) {
  return function Icon({ className = 'size-4' }: { readonly className?: string }) {
    return (
      <svg
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth={1.75}
        strokeLinecap="round"
        strokeLinejoin="round"
        className={`shrink-0 ${className}`}
        aria-hidden="true"
      >
        {paths}
      </svg>
    );
  };
}

export const HomeIcon = icon(<path d="M4 11 12 4l8 7v9h-6v-6h-4v6H4z" />);
export const RentIcon = icon(
  <>
    <circle cx="11" cy="11" r="6.5" />
    <path d="m16 16 4.5 4.5M8.5 11h5M11 8.5v5" />
  </>,
);
export const MachineIcon = icon(
  <>
    <rect x="5" y="6" width="14" height="12" rx="2" />
    <path d="M9 10h6v4H9zM8 3v3M12 3v3M16 3v3M8 18v3M12 18v3M16 18v3" />
  </>,
);
export const WalletIcon = icon(
  <>
    <path d="M4 7a2 2 0 0 1 2-2h11v3" />
    <rect x="4" y="8" width="16" height="11" rx="2" />
    <path d="M16 13.5h.01" />
  </>,
);
export const LedgerIcon = icon(<path d="M6 4h12v16l-3-2-3 2-3-2-3 2zM9 9h6M9 13h6" />);
export const StatementIcon = icon(<path d="M7 3h7l4 4v14H7zM14 3v4h4M10 12h5M10 16h5" />);
export const InvoiceIcon = icon(<path d="M6 3h12v18l-2.5-1.5L12 21l-3.5-1.5L6 21zM9 8h6M9 12h3" />);
export const BudgetIcon = icon(
  <>
    <path d="M4.5 17a8 8 0 1 1 15 0" />
    <path d="m12 14 4-4" />
  </>,
);
export const AccountIcon = icon(
  <>
    <circle cx="12" cy="8" r="4" />
    <path d="M4 20a8 6 0 0 1 16 0" />
  </>,
);
export const KeyIcon = icon(
  <>
    <circle cx="8" cy="15" r="4" />
    <path d="m11 12 8-8M16 7l3 3" />
  </>,
);
export const CodeIcon = icon(<path d="m8 8-4 4 4 4M16 8l4 4-4 4M13.5 5l-3 14" />);
export const HookIcon = icon(
  <>
    <circle cx="7" cy="17" r="3" />
    <circle cx="17" cy="17" r="3" />
    <circle cx="12" cy="7" r="3" />
    <path d="m10.5 9.7-2.3 4.5M13.5 9.7l2.3 4.5M10 17h4" />
  </>,
);
export const DeviceIcon = icon(<path d="M4 6h16v10H4zM2 19h20M9 19v-3M15 19v-3" />);
export const BellIcon = icon(<path d="M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15zM10 20.5h4" />);
export const ActivityIcon = icon(<path d="M3 12h4l3-7 4 14 3-7h4" />);
export const SearchIcon = icon(
  <>
    <circle cx="11" cy="11" r="6.5" />
    <path d="m16 16 4.5 4.5" />
  </>,
);
export const CloseIcon = icon(<path d="M6 6l12 12M18 6 6 18" />);
export const MoreIcon = icon(<path d="M5 12h.01M12 12h.01M19 12h.01" />);
export const SunIcon = icon(
  <>
    <circle cx="12" cy="12" r="4" />
    <path d="M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M5.6 18.4 7 17M17 7l1.4-1.4" />
  </>,
);
export const MoonIcon = icon(<path d="M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5z" />);
export const SignOutIcon = icon(<path d="M14 5H5v14h9M10 12h10M16.5 8.5 20 12l-3.5 3.5" />);
