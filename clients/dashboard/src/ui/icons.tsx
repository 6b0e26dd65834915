import { icon } from './frame-icons.js';

/* Those of the frame are loaded with it, and these with the pages that show them. */
export * from './frame-icons.js';

export const CopyIcon = icon(
  <>
    <rect x="9" y="9" width="11" height="11" rx="2" />
    <path d="M5 15H4V5a1 1 0 0 1 1-1h10v1" />
  </>,
);
export const CheckIcon = icon(<path d="m5 12.5 4.5 4.5L19 7.5" />);
export const ChevronRightIcon = icon(<path d="m9 6 6 6-6 6" />);
export const ChevronDownIcon = icon(<path d="m6 9 6 6 6-6" />);
export const ArrowLeftIcon = icon(<path d="M19 12H5M11 6l-6 6 6 6" />);
export const PlusIcon = icon(<path d="M12 5v14M5 12h14" />);
export const StopIcon = icon(<rect x="6.5" y="6.5" width="11" height="11" rx="1.5" />);
export const WarningIcon = icon(<path d="M12 4 2.5 20h19zM12 10v4M12 17h.01" />);
export const ExternalIcon = icon(<path d="M14 5h5v5M19 5l-8 8M17 14v5H5V7h5" />);
export const DownloadIcon = icon(<path d="M12 4v11M7 11l5 5 5-5M5 20h14" />);
export const CardIcon = icon(<path d="M3 6h18v12H3zM3 10h18M6.5 14.5h4" />);
